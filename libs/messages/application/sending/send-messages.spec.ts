import { UuidV7Ids } from '#kernel/ids.js';
import type { DeliveryMode } from '#kernel/delivery-mode.js';
import { anAccountId, SENT_AT, TestClock, TRACEPARENT } from '../../../../test/support/messages.js';
import type { Idempotency } from '../../domain/idempotency.js';
import type { SendingTerms } from '../../domain/message.js';
import { MessageContent } from '../../domain/message-content.js';
import type { Accepted, Messages } from '../messages.js';
import type { AdmitSending } from '../storage/admit-sending.js';
import type { StorageCap } from '../storage/storage-cap.js';
import { SendBatch } from './send-batch.js';
import { SendMessage } from './send-message.js';

const AT = new Date('2026-12-01T00:00:00Z');
const ACCOUNT = anAccountId();
const TERMS: SendingTerms = { traceparent: null, delivery: 'handler' };

/** What both use cases have in common: the fingerprints of their requests, and what they count as stored. */
function open(replayed = false, deliveries = 0) {
  const fingerprints: string[] = [];
  const counted: [number, number][] = [];
  const messages = {
    add: (added: Accepted['messages'], idempotency: Idempotency | null): Promise<Accepted> => {
      fingerprints.push(idempotency?.fingerprint.toString('hex') ?? '');
      return Promise.resolve({ messages: added, replayed, deliveries });
    },
  } as unknown as Messages;
  const storage = {
    count: (stored: readonly unknown[], more: number) => counted.push([stored.length, more]),
  } as unknown as StorageCap;
  const admission = { execute: () => undefined } as unknown as AdmitSending;
  const parts = [messages, new UuidV7Ids(), new TestClock(), admission, storage] as const;
  return { fingerprints, counted, one: new SendMessage(...parts), batch: new SendBatch(...parts) };
}

const content = (text: string, deliverAt: Date | null = null) => MessageContent.parse({ text, deliverAt }, SENT_AT);
const ONE = content('one');

describe('The fingerprint of a request', () => {
  /** Requests of different meaning. */
  const DIFFERENT: readonly (readonly MessageContent[])[] = [
    [ONE],
    [content('two')],
    [content('one', AT)],
    [content('one', SENT_AT)],
    [ONE, ONE],
    [ONE, content('two')],
    [content('two'), ONE],
    [content('one', AT), ONE],
    [ONE, content('one', AT)],
    [content(`one","${AT.toISOString()}`)],
    [content(`${AT.toISOString()}:one`)],
    [content('one"],["one')],
  ];

  it('differs for each batch of another meaning', async () => {
    const { batch, fingerprints } = open();
    for (const inputs of DIFFERENT) await batch.execute(ACCOUNT, inputs, TERMS, 'key');
    expect(new Set(fingerprints).size).toBe(DIFFERENT.length);
  });

  it('differs for each message of another meaning, and from that of a batch', async () => {
    const { one, batch, fingerprints } = open();
    const single = DIFFERENT.filter(({ length }) => length === 1);
    for (const [input = ONE] of single) await one.execute(ACCOUNT, input, TERMS, 'key');
    for (const inputs of single) await batch.execute(ACCOUNT, inputs, TERMS, 'key');
    expect(new Set(fingerprints).size).toBe(2 * single.length);
  });

  it('is the same for what means the same, whatever the trace and the delivery mode', async () => {
    const { one, batch, fingerprints } = open();
    for (const more of [{}, { traceparent: TRACEPARENT }, { delivery: 'pull' }] as const) {
      await one.execute(ACCOUNT, ONE, { ...TERMS, ...more }, 'key');
      await batch.execute(ACCOUNT, [ONE], { ...TERMS, ...more }, 'key');
    }
    expect(new Set(fingerprints).size).toBe(2);
  });
});

describe('What counts as stored', () => {
  it.each<[string, boolean, DeliveryMode, number, [number, number][]]>([
    [
      'new messages',
      false,
      'handler',
      0,
      [
        [1, 0],
        [2, 0],
      ],
    ],
    [
      'new messages and their deliveries',
      false,
      'webhooks',
      4,
      [
        [1, 4],
        [2, 4],
      ],
    ],
    ['nothing of a repeated request', true, 'webhooks', 4, []],
  ])('is %s', async (_what, replayed, delivery, deliveries, expected) => {
    const { one, batch, counted } = open(replayed, deliveries);
    const terms = { ...TERMS, delivery };
    expect((await one.execute(ACCOUNT, ONE, terms, 'key')).replayed).toBe(replayed);
    expect((await batch.execute(ACCOUNT, [ONE, ONE], terms, 'key')).replayed).toBe(replayed);
    expect(counted).toEqual(expected);
  });
});
