import { itSendsThroughFaults } from './faults.js';

describe('The client, in the long run,', () => {
  // SLUICE_FAULT_MESSAGES=10000 is the large form.
  itSendsThroughFaults(Number(process.env.SLUICE_FAULT_MESSAGES ?? 3_000));
});
