import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ledger } from './ledger.js';
import { reckon } from './reckoning.js';
import type { MessageView } from './service.js';

describe('The reckoning', () => {
  let folder: string;
  let ledger: Ledger;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-reckoning-'));
    ledger = Ledger.create(join(folder, 'ledger'), new Date());
    ledger.acknowledged(ledger.begin(false), 'msg_0');
    ledger.refused(ledger.begin(true), 400);
    ledger.unknown(ledger.begin(false), 'ECONNRESET');
  });

  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  const view = (n: number, differing: Partial<MessageView> = {}): MessageView => ({
    ...{ id: `msg_${n}`, message: ledger.textOf(n), status: 'delivered', attempts: 1 },
    ...differing,
  });
  const broken = (stored: MessageView[], unexpected: string[] = []) =>
    reckon(ledger, stored, unexpected).flatMap((rule) => rule.broken);

  it('finds nothing wrong when what was acknowledged is delivered, and what is unknown is stored once or not', () => {
    expect(broken([view(0)])).toEqual([]);
    expect(broken([view(0), view(2, { status: 'queued' })])).toEqual([]);
  });

  it.each([
    ['an acknowledged message that is gone', () => [], ['message 0 was acknowledged as msg_0 and is not stored']],
    [
      'one under another id',
      () => [view(0, { id: 'msg_9' })],
      ['message 0 was acknowledged as msg_0 and is not stored'],
    ],
    ['one that is failed', () => [view(0, { status: 'failed' })], ['message 0 (msg_0) is failed']],
    ['one that nobody attempted', () => [view(0, { attempts: 0 })], ['message 0 (msg_0) is delivered']],
    [
      'a text that was changed',
      () => [view(0, { message: `${ledger.textOf(0)} ` })],
      ['message 0 is stored with another text'],
    ],
    ['a refused one that is stored', () => [view(0), view(1)], ['message 1 was refused and is stored']],
    ['one stored twice', () => [view(0), view(0, { id: 'msg_9' })], ['message 0 is stored 2 times: msg_0, msg_9']],
    [
      'an unknown one stored twice',
      () => [view(0), view(2), view(2, { id: 'msg_9' })],
      ['message 2 is stored 2 times: msg_2, msg_9'],
    ],
  ])('finds %s', (_, stored, sentences) => {
    expect(broken(stored())).toEqual(sentences);
  });

  it('finds a repetition that was told another id, and answers that nothing excuses', () => {
    ledger.acknowledged(0, 'msg_9');
    expect(broken([view(0)], ['A request was answered 500.'])).toEqual([
      'message 0 was told msg_0 and msg_9',
      'A request was answered 500.',
    ]);
  });
});
