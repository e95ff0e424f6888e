import { itSendsThroughFaults } from './faults.js';

describe('The client, in the long run,', () => {
  itSendsThroughFaults(3_000);
});
