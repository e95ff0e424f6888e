import { UuidV7Ids } from '#kernel/ids.js';
import { anAccountId, SENT_AT, TestClock, TRACEPARENT } from '../../../test/support/messages.js';
import type { NewMessage } from '../domain/message.js';
import type { DeliveryTargets } from './delivery-targets.js';
import type { Accepted, Idempotency, Messages } from './messages.js';
import { SendBatch } from './send-batch.js';
import { SendMessage } from './send-message.js';
import type { StorageCap } from './storage-cap.js';

const AT = new Date('2026-12-01T00:00:00Z');
const sender = { accountId: anAccountId(), epoch: 0 } as never;

/** What both use cases have in common: the fingerprints of their requests, and what they count as stored. */
function open(replayed = false) {
  const fingerprints: string[] = [];
  const counted: [number, number][] = [];
  const messages = {
    add: (added: Accepted['messages'], idempotency: Idempotency | null): Promise<Accepted> => {
      fingerprints.push(idempotency?.fingerprint.toString('hex') ?? '');
      return Promise.resolve({ messages: added, replayed });
    },
  } as unknown as Messages;
  const storage = {
    count: (stored: readonly unknown[], endpoints: number) => counted.push([stored.length, endpoints]),
  } as unknown as StorageCap;
  const targets = { of: () => Promise.resolve(['ep_1', 'ep_2']) } as unknown as DeliveryTargets;
  const parts = [messages, new UuidV7Ids(), new TestClock(), storage, targets] as const;
  return { fingerprints, counted, one: new SendMessage(...parts), batch: new SendBatch(...parts) };
}

const ONE: NewMessage = { text: 'one' };

describe('The fingerprint of a request', () => {
  /** Requests of different meaning. */
  const DIFFERENT: readonly (readonly NewMessage[])[] = [
    [ONE],
    [{ text: 'two' }],
    [{ text: 'one', deliverAt: AT }],
    [{ text: 'one', deliverAt: SENT_AT }],
    [ONE, ONE],
    [ONE, { text: 'two' }],
    [{ text: 'two' }, ONE],
    [{ text: 'one', deliverAt: AT }, ONE],
    [ONE, { text: 'one', deliverAt: AT }],
    [{ text: `one","${AT.toISOString()}` }],
    [{ text: `${AT.toISOString()}:one` }],
    [{ text: 'one"],["one' }],
  ];

  it('differs for each batch of another meaning', async () => {
    const { batch, fingerprints } = open();
    for (const inputs of DIFFERENT) await batch.execute(sender, inputs, 'key');
    expect(new Set(fingerprints).size).toBe(DIFFERENT.length);
  });

  it('differs for each message of another meaning, and from that of a batch', async () => {
    const { one, batch, fingerprints } = open();
    const single = DIFFERENT.filter(({ length }) => length === 1);
    for (const [input = ONE] of single) await one.execute(sender, input, 'key');
    for (const inputs of single) await batch.execute(sender, inputs, 'key');
    expect(new Set(fingerprints).size).toBe(2 * single.length);
  });

  it('is the same for what means the same, whatever the trace and the delivery mode', async () => {
    const { one, batch, fingerprints } = open();
    for (const more of [{}, { deliverAt: null }, { traceparent: TRACEPARENT }, { delivery: 'pull' }] as const) {
      await one.execute(sender, { ...ONE, ...more }, 'key');
      await batch.execute(sender, [{ ...ONE, ...more }], 'key');
    }
    expect(new Set(fingerprints).size).toBe(2);
  });
});

describe('What counts as stored', () => {
  it.each([
    [
      'new messages',
      false,
      'handler',
      [
        [1, 0],
        [2, 0],
      ],
    ],
    [
      'new messages for each endpoint',
      false,
      'webhooks',
      [
        [1, 2],
        [2, 2],
      ],
    ],
    ['nothing of a repeated request', true, 'webhooks', []],
  ] as const)('is %s', async (_what, replayed, delivery, expected) => {
    const { one, batch, counted } = open(replayed);
    const input = { ...ONE, delivery };
    expect((await one.execute(sender, input, 'key')).replayed).toBe(replayed);
    expect((await batch.execute(sender, [input, input], 'key')).replayed).toBe(replayed);
    expect(counted).toEqual(expected);
  });
});
