import fc from 'fast-check';
import type { Deliveries } from '#messages/application/delivering/deliveries.js';
import type { Message, MessageState } from '#messages/domain/message.js';
import { after, aMessage, claimTerms, jobOf, SENT_AT } from '../support/messages.js';
import { InMemoryDeliveries } from './fakes/in-memory-deliveries.js';
import { InMemoryStore } from './fakes/in-memory-store.js';
import { PostgresStore } from './postgres-store.js';

/** Somewhere that a message lives, as workers and its sender reach it. */
interface Home {
  readonly deliveries: Deliveries;
  change(message: Message, transition: (current: Message) => Message): Promise<unknown>;
  state(message: Message): Promise<MessageState | undefined>;
}

interface Step {
  readonly what: 'claim' | 'runs alone' | 'deliver' | 'requeue' | 'requeue later' | 'fail' | 'cancel' | 'retry';
  /** How many claims, or rounds, ago the one was that is presented; 0 for the newest. */
  readonly ago: number;
}

const step: fc.Arbitrary<Step> = fc.record({
  what: fc.oneof(
    {
      weight: 19,
      arbitrary: fc.constantFrom('claim', 'claim', 'runs alone', 'deliver', 'requeue', 'fail', 'cancel', 'retry'),
    },
    // Nothing but a cancellation can follow.
    { weight: 1, arbitrary: fc.constant('requeue later') },
  ),
  ago: fc.constantFrom(0, 0, 0, 1, 2),
});

const ends = {
  deliver: (claimed: Message) => claimed.deliver(SENT_AT),
  requeue: (claimed: Message, reason: string) => claimed.requeue(reason, SENT_AT),
  'requeue later': (claimed: Message, reason: string) => claimed.requeue(reason, SENT_AT, after(3_600_000)),
  fail: (claimed: Message, reason: string) => claimed.fail(reason, SENT_AT),
};

/** Takes one step in every home alike; resolves to the result of each, with the claims made so far. */
async function take({ what, ago }: Step, message: Message, homes: readonly Home[], claims: Message[][]) {
  const { token } = claimTerms();
  const round = (await homes[0]?.state(message))?.retries ?? 0;
  return Promise.all(
    homes.map(async (home, index) => {
      const made = claims[index] ?? [];
      const claimed = made.at(-1 - ago);
      switch (what) {
        case 'claim': {
          const job = { ...jobOf(message), retries: round - ago };
          const next = await home.deliveries.claim(job, claimTerms({ token }));
          if (next === null) return null;
          if ('dueInMs' in next) return 'not due';
          made.push(next);
          return comparable(next.state);
        }
        case 'runs alone':
          return claimed && home.deliveries.runsAlone(claimed, 45_000);
        case 'deliver':
        case 'requeue':
        case 'requeue later':
        case 'fail':
          return claimed && home.deliveries.settle(claimed, ends[what](claimed, `${what} ${made.length}`));
        case 'cancel':
          return home.change(message, (current) => current.cancel(SENT_AT));
        case 'retry':
          return home.change(message, (current) => current.retry(SENT_AT));
      }
    }),
  );
}

// Times come from different clocks: the suites of the ports check them.
function comparable(state: MessageState | undefined): object | undefined {
  if (state === undefined) return undefined;
  const { claim, nextAttemptAt } = state;
  return {
    ...state,
    updatedAt: null,
    nextAttemptAt: nextAttemptAt && 'set',
    claim: claim && { ...claim, expiresAt: null },
  };
}

async function resultOf(work: Promise<Message | null>): Promise<unknown> {
  try {
    return comparable((await work)?.state);
  } catch (error) {
    return (error as { code: unknown }).code;
  }
}

describe('the SQL of claims, ends and changes', () => {
  let store: PostgresStore;
  let homes: Home[];
  const inMemory = new InMemoryStore();

  beforeAll(async () => {
    store = await PostgresStore.open();
    const { messages, deliveries } = await store.process();
    const aggregate: Home = {
      deliveries: new InMemoryDeliveries(inMemory),
      change: ({ id }, transition) =>
        resultOf(
          Promise.resolve().then(() => {
            const found = inMemory.messages.get(id);
            const changed = found === undefined ? null : transition(found);
            if (changed !== null) inMemory.messages.set(id, changed);
            return changed;
          }),
        ),
      state: ({ id }) => Promise.resolve(inMemory.messages.get(id)?.state),
    };
    const sql: Home = {
      deliveries,
      change: ({ id, state }, transition) => resultOf(messages.change(state.accountId, id, transition)),
      state: async (message) => (await store.find(message))?.state,
    };
    homes = [aggregate, sql];
  });
  afterAll(() => store.close());

  it('agrees with the aggregate on whatever is done to a message', async () => {
    const walk = async (steps: readonly Step[]) => {
      const message = aMessage();
      inMemory.messages.set(message.id, message);
      await store.put(message);
      const claims: Message[][] = homes.map(() => []);
      for (const one of steps) {
        const [expected, result] = await take(one, message, homes, claims);
        expect({ ...one, result }).toEqual({ ...one, result: expected });
        const [aggregate, row] = await Promise.all(homes.map((home) => home.state(message)));
        expect(comparable(row)).toEqual(comparable(aggregate));
      }
    };
    // Many messages at once, so that their steps travel in common batches.
    const walks = fc.array(fc.array(step, { maxLength: 30, size: 'max' }), {
      minLength: 1,
      maxLength: 20,
      size: 'max',
    });
    await fc.assert(
      fc.asyncProperty(walks, async (all) => {
        await Promise.all(all.map(walk));
      }),
      { numRuns: 5, endOnFailure: true },
    );
  });
});
