import { after, SENT_AT } from '../../../test/support/messages.js';
import { deliverAtError } from './delivery-time.js';

it('A message may be scheduled for up to 30 days ahead, or for a past time', () => {
  for (const ms of [-1e12, -1, 0, 30 * 86_400_000]) expect(deliverAtError(after(ms), SENT_AT)).toBeNull();
  expect(deliverAtError(after(30 * 86_400_000 + 1), SENT_AT)).toBe('deliverAt must be at most 30 days ahead.');
});
