import { messageOutcome, type Undelivered } from './message-outcome.js';

const usedUp: Undelivered = {
  ...{ endpointId: 'ep_2', isLeft: false, abandoned: null, isWanted: true, error: 'The receiver returned 500.' },
};
const disabled: Undelivered = { ...usedUp, endpointId: 'ep_1', abandoned: 'endpoint_disabled', isWanted: false };

it.each<[string, readonly Undelivered[], boolean, string | null]>([
  ['every endpoint has got it', [], true, 'delivered'],
  ['an attempt is left', [usedUp, { ...disabled, isLeft: true }], true, null],
  ['an endpoint has used up its attempts', [usedUp], true, 'ep_2: The receiver returned 500.'],
  ['an endpoint that was disabled since has used up its attempts', [{ ...usedUp, isWanted: false }], true, 'delivered'],
  ['an endpoint was disabled, and others have got it', [disabled], true, 'delivered'],
  ['an endpoint was disabled, and no other has got it', [disabled], false, 'ep_1: endpoint_disabled'],
  ['one was disabled, and one has used up its attempts', [disabled, usedUp], false, 'ep_2: The receiver returned 500.'],
  [
    'two have used up their attempts',
    [usedUp, { ...usedUp, endpointId: 'ep_0' }],
    false,
    'ep_0: The receiver returned 500.',
  ],
  ['the attempts of the last try are gone', [{ ...usedUp, error: null }], false, 'ep_2'],
])('When %s', (_what, undelivered, isDelivered, expected) => {
  const outcome = messageOutcome(undelivered, isDelivered);
  expect(outcome === null || outcome.status === 'delivered' ? (outcome?.status ?? null) : outcome.failureReason).toBe(
    expected,
  );
});
