import { createHash } from 'node:crypto';
import { UuidV7Ids } from '#kernel/ids.js';
import { anAccountId, SENT_AT, TestClock, TRACEPARENT } from '../../../../test/support/messages.js';
import type { Idempotency } from '../../domain/idempotency.js';
import { MessageContent, type ContentValues } from '../../domain/message-content.js';
import type { Accepted, Messages } from '../messages.js';
import type { AdmitSending } from '../storage/admit-sending.js';
import type { StorageCap } from '../storage/storage-cap.js';
import { SendBatch } from './send-batch.js';
import { SendMessage } from './send-message.js';

const AT = new Date('2026-12-01T00:00:00Z');
const sender = anAccountId();
const TERMS = { traceparent: null, delivery: 'handler' } as const;

/** What both use cases have in common: the fingerprints of their requests, and what they count as stored. */
function open(replayed = false, deliveries = 0) {
  const fingerprints: string[] = [];
  const counted: [number, number][] = [];
  const messages = {
    add: (added: Accepted['messages'], idempotency: Idempotency | null): Promise<Accepted> => {
      fingerprints.push(idempotency?.fingerprint.toString('hex') ?? '');
      return Promise.resolve({ messages: added, deliveries: deliveries * added.length, replayed });
    },
  } as unknown as Messages;
  const storage = {
    count: (stored: readonly unknown[], started: number) => counted.push([stored.length, started]),
  } as unknown as StorageCap;
  const admission = { execute: () => undefined } as unknown as AdmitSending;
  const parts = [messages, new UuidV7Ids(), new TestClock(), admission, storage] as const;
  return { fingerprints, counted, one: new SendMessage(...parts), batch: new SendBatch(...parts) };
}

type Given = Pick<ContentValues, 'text'> & Partial<ContentValues>;
const parsed = (given: Given) => MessageContent.parse(given, SENT_AT);
const ONE: Given = { text: 'one' };

describe('The fingerprint of a request', () => {
  /** Requests of different meaning. */
  const DIFFERENT: readonly (readonly Given[])[] = [
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
    [{ text: 'one', type: 'order.paid' }],
    [{ text: 'one', type: 'order.paid', deliverAt: AT }],
    [{ text: 'one', type: 'order' }, ONE],
    [{ text: 'one', orderingKey: 'order.paid' }],
    [{ text: 'one', metadata: {} }],
    [{ text: 'one', metadata: { type: 'order.paid' } }],
    [{ text: 'one', metadata: { a: 'b', c: 'd' } }],
    [{ text: 'one', metadata: { a: 'b","c":"d' } }],
    [{ text: 'one', metadata: JSON.parse('{"__proto__":"a"}') as Record<string, string> }],
    [{ text: 'one', metadata: JSON.parse('{"__proto__":"b"}') as Record<string, string> }],
  ];

  it('differs for batches with different content', async () => {
    const { batch, fingerprints } = open();
    for (const inputs of DIFFERENT) await batch.execute(sender, inputs.map(parsed), TERMS, 'key');
    expect(new Set(fingerprints).size).toBe(DIFFERENT.length);
  });

  it('differs for messages with different content, and from the fingerprint of a batch', async () => {
    const { one, batch, fingerprints } = open();
    const single = DIFFERENT.filter(({ length }) => length === 1);
    for (const [input = ONE] of single) await one.execute(sender, parsed(input), TERMS, 'key');
    for (const inputs of single) await batch.execute(sender, inputs.map(parsed), TERMS, 'key');
    expect(new Set(fingerprints).size).toBe(2 * single.length);
  });

  it('does not depend on the format, the trace or the delivery mode', async () => {
    const { one, batch, fingerprints } = open();
    for (const terms of [TERMS, { ...TERMS, traceparent: TRACEPARENT }, { ...TERMS, delivery: 'pull' }] as const) {
      for (const content of [ONE, { ...ONE, deliverAt: null }].map(parsed)) {
        await one.execute(sender, content, terms, 'key');
        await batch.execute(sender, [content], terms, 'key');
      }
    }
    expect(new Set(fingerprints).size).toBe(2);
  });
});

describe('The fingerprint of an earlier version', () => {
  it('is equal for the same request', async () => {
    const { one, batch, fingerprints } = open();
    const contents = [ONE, { text: 'one', deliverAt: AT }].map(parsed);
    for (const content of contents) await one.execute(sender, content, TERMS, 'key');
    await batch.execute(sender, contents, TERMS, 'key');
    const meanings = [
      'send:one',
      `send-at:${AT.toISOString()}:one`,
      `batch:[["one",null],["one","${AT.toISOString()}"]]`,
    ];
    expect(fingerprints).toEqual(meanings.map((meaning) => createHash('sha256').update(meaning).digest('hex')));
  });
});

describe('A batch', () => {
  it.each([0, 1_001])('has 1 to 1,000 messages, not %i', async (count) => {
    const sent = open().batch.execute(sender, Array(count).fill(parsed(ONE)), TERMS, null);
    await expect(sent).rejects.toMatchObject({ errors: [{ pointer: '/messages' }] });
  });
});

describe('What counts as stored', () => {
  it.each([
    {
      what: 'new messages',
      replayed: false,
      deliveries: 0,
      expected: [
        [1, 0],
        [2, 0],
      ],
    },
    {
      what: 'new messages, and a delivery to each endpoint',
      replayed: false,
      deliveries: 2,
      expected: [
        [1, 2],
        [2, 4],
      ],
    },
    { what: 'nothing of a repeated request', replayed: true, deliveries: 2, expected: [] },
  ])('is $what', async ({ replayed, deliveries, expected }) => {
    const { one, batch, counted } = open(replayed, deliveries);
    const content = parsed(ONE);
    expect((await one.execute(sender, content, TERMS, 'key')).replayed).toBe(replayed);
    expect((await batch.execute(sender, [content, content], TERMS, 'key')).replayed).toBe(replayed);
    expect(counted).toEqual(expected);
  });
});
