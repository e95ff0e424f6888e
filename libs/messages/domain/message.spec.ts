import fc from 'fast-check';
import { aClaim, aMessage, after, SENT_AT, thrownBy, TRACEPARENT } from '../../../test/support/messages.js';
import { Message, type Claim, type MessageState } from './message.js';
import { MESSAGE_STATUSES, OPEN_STATUSES, TRANSITIONS, type Transition } from './message-status.js';

interface Step {
  readonly transition: Transition;
  readonly claim: Claim;
  readonly reason: string;
}

const apply: Record<Transition, (message: Message, step: Step, at: Date) => Message> = {
  startProcessing: (message, { claim }, at) => message.startProcessing(claim, at),
  takeOver: (message, { claim }, at) => message.takeOver(claim, at),
  deliver: (message, _, at) => message.deliver(at),
  requeue: (message, { reason }, at) => message.requeue(reason, at),
  fail: (message, { reason }, at) => message.fail(reason, at),
  cancel: (message, _, at) => message.cancel(at),
  retry: (message, _, at) => message.retry(at),
};

const transitions = Object.keys(TRANSITIONS) as Transition[];
const step: fc.Arbitrary<Step> = fc.record({
  transition: fc.constantFrom(...transitions),
  claim: fc.boolean().map((alone) => aClaim({ alone })),
  reason: fc.string({ minLength: 1, maxLength: 20 }),
});
// Mostly legal steps, so that walks get far. They end early where a message can only be left alone.
const walk = fc.array(fc.tuple(step, fc.nat(100)), { maxLength: 40, size: 'max' });

function expectInvariants({ state, id, jobId }: Message): void {
  expect(MESSAGE_STATUSES).toContain(state.status);
  expect(state.claim !== null).toBe(state.status === 'processing');
  expect(state.failures + state.crashes).toBeLessThanOrEqual(state.attempts);
  expect(state.loneCrashes).toBeLessThanOrEqual(state.crashes);
  expect(state.failureReason === null).toBe(
    state.status === 'delivered' || (state.failures === 0 && state.status !== 'failed'),
  );
  expect(jobId).toBe(state.retries === 0 ? id : `${id}.${state.retries}`);
}

/** What a transition is to change, and nothing else. */
function expected({ status: _, ...before }: MessageState, { transition, claim, reason }: Step): Partial<MessageState> {
  const fresh = { failures: 0, crashes: 0, loneCrashes: 0, failureReason: null };
  switch (transition) {
    case 'startProcessing':
      return { ...before, claim, attempts: before.attempts + 1 };
    case 'takeOver':
      return {
        ...before,
        claim,
        attempts: before.attempts + 1,
        crashes: before.crashes + 1,
        loneCrashes: before.loneCrashes + Number(before.claim?.alone),
      };
    case 'deliver':
      return { ...before, claim: null, failureReason: null };
    case 'requeue':
    case 'fail':
      return { ...before, claim: null, failures: before.failures + 1, failureReason: reason };
    case 'cancel':
      return before;
    case 'retry':
      return { ...before, ...fresh, retries: before.retries + 1 };
  }
}

describe('Message', () => {
  it('is queued at first, untouched', () => {
    const message = Message.queue('msg_1', 'acct_1', { text: 'hello' }, SENT_AT);
    expect(message.state).toMatchObject({
      status: 'queued',
      attempts: 0,
      retries: 0,
      claim: null,
      failureReason: null,
    });
    expect(message.state).toMatchObject({ text: 'hello', createdAt: SENT_AT, updatedAt: SENT_AT });
    expect(message.state).toMatchObject({ traceparent: null, deliverAt: null });
    const wish = { text: 'hello', traceparent: TRACEPARENT, deliverAt: after(1_000) };
    expect(Message.queue('msg_1', 'acct_1', wish, SENT_AT).state).toMatchObject(wish);
    expectInvariants(message);
  });

  it('can not be made of a text that no store would give back', () => {
    expect(thrownBy(() => Message.queue('msg_1', 'acct_1', { text: '\u0000' }, SENT_AT))).toMatchObject({
      code: 'validation_failed',
      errors: [{ pointer: '/message', detail: 'message must not contain U+0000.' }],
    });
  });

  it('may be for a time up to 30 days ahead, or one that has passed', () => {
    const queue = (ms: number) => Message.queue('msg_1', 'acct_1', { text: 'x', deliverAt: after(ms) }, SENT_AT);
    for (const ms of [-1e12, -1, 0, 30 * 86_400_000]) expect(queue(ms).state.deliverAt).toEqual(after(ms));
    expect(thrownBy(() => queue(30 * 86_400_000 + 1))).toMatchObject({
      code: 'validation_failed',
      errors: [{ pointer: '/deliverAt', detail: 'deliverAt must be at most 30 days ahead.' }],
    });
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
    ]);
    expect([...MESSAGE_STATUSES].sort()).toEqual(['cancelled', 'delivered', 'failed', 'processing', 'queued']);
    expect([...OPEN_STATUSES].sort()).toEqual(['processing', 'queued']);
  });

  it('moves along the table only, whatever is asked of it, and each move changes what it should', () => {
    fc.assert(
      fc.property(walk, (steps) => {
        let message = aMessage();
        for (const [index, [any, choice]] of steps.entries()) {
          const legal = transitions.filter((name) => TRANSITIONS[name].from === message.state.status);
          const taken = choice < 25 ? any : { ...any, transition: legal[choice % legal.length] ?? any.transition };
          const { from, to } = TRANSITIONS[taken.transition];
          const before = structuredClone(message.state);
          const at = after(index + 1);
          const move = () => apply[taken.transition](message, taken, at);
          if (before.status === from) {
            const next = move();
            expect(message.state).toEqual(before);
            expect(next.state).toEqual({ ...expected(before, taken), status: to, updatedAt: at });
            expectInvariants(next);
            message = next;
          } else {
            expect(thrownBy(move)).toMatchObject({ code: 'invalid_transition' });
            expect(message.state).toEqual(before);
          }
        }
      }),
      { numRuns: 300 },
    );
  });

  it('says in which status it is when it refuses', () => {
    expect(() => aMessage({ status: 'delivered' }).cancel(SENT_AT)).toThrow(/is delivered.*only.*is queued/);
  });
});
