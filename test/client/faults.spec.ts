import { containedIn, describeUnless } from '../support/skipping.js';
import { itSendsThroughFaults } from './faults.js';

describeUnless(containedIn('many-faults.spec.ts'))('The client', () => {
  itSendsThroughFaults(400);
});
