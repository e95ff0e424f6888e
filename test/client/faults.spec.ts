import { itSendsThroughFaults } from './faults.js';

describe('The client', () => {
  itSendsThroughFaults(400);
});
