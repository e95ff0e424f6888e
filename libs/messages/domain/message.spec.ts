import fc from 'fast-check';
import { aClaim, aMessage, after, SENT_AT, thrownBy, TRACEPARENT } from '../../../test/support/messages.js';
import { Message, type MessageState } from './message.js';
import { MessageContent } from './message-content.js';
import { MESSAGE_STATUSES, OPEN_STATUSES, TRANSITIONS, type Transition } from './message-status.js';

/** What a transition changes besides `status` and `updatedAt`. */
type Changes = (before: MessageState) => Partial<MessageState>;

const REASON = 'no luck';
const failed: Changes = ({ failures }) => ({ claim: null, failures: failures + 1, failureReason: REASON });

const afresh: Changes = ({ retries }) => ({
  ...{ retries: retries + 1, failures: 0, crashes: 0, loneCrashes: 0, failureReason: null },
});

const claim = aClaim();

const moves: Record<Transition, [(message: Message, at: Date) => Message, Changes]> = {
  startProcessing: [
    (message, at) => message.startProcessing(claim, at),
    ({ attempts }) => ({ claim, attempts: attempts + 1 }),
  ],
  takeOver: [
    (message, at) => message.takeOver(claim, at),
    ({ attempts, crashes, loneCrashes, claim: lost }) => ({
      ...{ claim, attempts: attempts + 1, crashes: crashes + 1 },
      loneCrashes: loneCrashes + (lost?.alone === true ? 1 : 0),
    }),
  ],
  deliver: [(message, at) => message.deliver(at), () => ({ claim: null, failureReason: null })],
  requeue: [
    (message, at) => message.requeue(REASON, at, after(5_000)),
    (before) => ({ ...failed(before), nextAttemptAt: after(5_000) }),
  ],
  fail: [(message, at) => message.fail(REASON, at), failed],
  cancel: [(message, at) => message.cancel(at), () => ({})],
  retry: [(message, at) => message.retry(at), afresh],
  skip: [(message, at) => message.skip(at), () => ({})],
  replay: [(message, at) => message.replay(at), afresh],
};

const transitions = Object.keys(TRANSITIONS) as Transition[];

/** A message that was delivered, retried and taken over any number of times. */
const anyMessage = fc
  .record({
    status: fc.constantFrom(...MESSAGE_STATUSES),
    ...{ failures: fc.nat(9), crashes: fc.nat(9), loneCrashes: fc.nat(9), attempts: fc.nat(30), retries: fc.nat(3) },
    failureReason: fc.constantFrom(null, 'earlier'),
    nextAttemptAt: fc.constantFrom(null, after(1_000)),
  })
  .chain((state) => fc.boolean().map((alone) => ({ ...state, claim: { ...aClaim(), alone } })))
  .map((state) => aMessage({ ...state, claim: state.status === 'processing' ? state.claim : null }));

describe('Message', () => {
  it('is queued at first, untouched', () => {
    const content = MessageContent.parse({ text: 'hello', deliverAt: after(1_000) }, SENT_AT);
    const terms = { traceparent: TRACEPARENT, delivery: 'pull' } as const;
    const counts = { attempts: 0, failures: 0, crashes: 0, loneCrashes: 0, retries: 0 };
    expect(Message.queue('msg_1', 'acct_1', content, terms, SENT_AT).state).toEqual({
      ...{
        id: 'msg_1',
        accountId: 'acct_1',
        status: 'queued',
        ...content,
        ...terms,
        createdAt: SENT_AT,
        updatedAt: SENT_AT,
      },
      ...{ ...counts, failureReason: null, nextAttemptAt: null, claim: null },
    });
  });

  it.each([
    ['handler', 3, 1],
    ['pull', 3, 2],
    ['pull', 2, 0],
  ] as const)(
    'with delivery %s has its last attempt after %i failures and %i crashes more or less',
    (delivery, failures, crashes) => {
      const message = aMessage({ delivery, failures, crashes });
      const used = delivery === 'pull' ? failures + crashes : failures;
      expect(message.attemptsUsed).toBe(used);
      for (let maxAttempts = 1; maxAttempts < 9; maxAttempts++) {
        expect(message.attemptsLeft({ maxAttempts })).toBe(Math.max(0, maxAttempts - used - 1));
        expect(message.isLastAttempt({ maxAttempts })).toBe(used + 1 >= maxAttempts);
      }
    },
  );

  it('has a job id of its own for each retry', () => {
    const message = aMessage({ status: 'failed' });
    expect(message.jobId).toBe(message.id);
    expect(message.retry(SENT_AT).jobId).toBe(`${message.id}.1`);
  });

  it('knows the transitions that are promised, and no other', () => {
    const edges = transitions.map((name) => `${TRANSITIONS[name].from} -> ${TRANSITIONS[name].to}`);
    expect(edges.sort()).toEqual([
      'failed -> queued',
      'processing -> delivered',
      'processing -> failed',
      'processing -> processing',
      'processing -> queued',
      'queued -> cancelled',
      'queued -> processing',
      'queued -> skipped',
      'skipped -> queued',
    ]);
    expect([...MESSAGE_STATUSES].sort()).toEqual([
      'cancelled',
      'delivered',
      'failed',
      'processing',
      'queued',
      'skipped',
    ]);
    expect([...OPEN_STATUSES].sort()).toEqual(['processing', 'queued']);
  });

  it.each(Object.entries(moves))('makes the transition %s along the table only, and changes no more', (name, move) => {
    const { from, to } = TRANSITIONS[name as Transition];
    const [apply, changes] = move;
    fc.assert(
      fc.property(anyMessage, (message) => {
        const before = structuredClone(message.state);
        const at = after(1);
        if (before.status === from) {
          const expected = { ...before, nextAttemptAt: null, ...changes(before), status: to, updatedAt: at };
          expect(apply(message, at).state).toEqual(expected);
        } else {
          expect(thrownBy(() => apply(message, at))).toMatchObject({ code: 'invalid_transition' });
        }
        expect(message.state).toEqual(before);
      }),
    );
  });

  it('names its status when it refuses a transition', () => {
    expect(() => aMessage({ status: 'delivered' }).cancel(SENT_AT)).toThrow(/is delivered.*to be queued/);
  });
});
