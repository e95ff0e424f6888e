import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ledger } from './ledger.js';
import { checkGuarantees } from './check-guarantees.js';
import type { MessageView } from './service.js';

const missing = 'message 0 was acknowledged as msg_0 and is not stored';

describe('checkGuarantees', () => {
  let folder: string;
  let ledger: Ledger;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-guarantees-'));
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
  const violations = (stored: MessageView[], unexpected: string[] = []) =>
    checkGuarantees(ledger, stored, unexpected).flatMap((guarantee) => guarantee.violations);

  it('finds nothing invalid when what was acknowledged is delivered, and what is unknown is stored once or not', () => {
    expect(violations([view(0)])).toEqual([]);
    expect(violations([view(0), view(2, { status: 'queued' })])).toEqual([]);
  });

  it.each([
    ['an acknowledged message that is gone', () => [], [missing]],
    ['one under another id', () => [view(0, { id: 'msg_9' })], [missing]],
    ['one that is failed', () => [view(0, { status: 'failed' })], ['message 0 (msg_0) is failed']],
    ['one that was never attempted', () => [view(0, { attempts: 0 })], ['message 0 (msg_0) is delivered']],
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
    expect(violations(stored())).toEqual(sentences);
  });

  it('finds a delivered message that no consumer had', () => {
    const found = (ids: string[]) =>
      checkGuarantees(ledger, [view(0)], [], new Set(ids)).flatMap((of) => of.violations);
    expect(found(['msg_0'])).toEqual([]);
    expect(found([])).toEqual(['message 0 (msg_0) is delivered, and no consumer had it']);
  });

  it.each([
    ['waits', { status: 'queued' }, true, 'message 0 (msg_0) is queued'],
    ['is being delivered', { status: 'processing' }, true, 'message 0 (msg_0) is processing'],
    ['failed when others may have had it', { status: 'failed' }, false, 'message 0 (msg_0) is failed'],
    ['others may have had', {}, false, 'message 0 (msg_0) is delivered, and no consumer had it'],
  ])('does not know what becomes of a message that %s', (_, differing, areAlone, sentence) => {
    const found = checkGuarantees(ledger, [view(0, differing)], [], new Set(), areAlone);
    expect(found.flatMap((of) => of.violations)).toEqual([]);
    expect(found.flatMap(({ unknown = [] }) => unknown)).toEqual([sentence]);
  });

  it('finds a repetition that returned another id, and unexpected responses', () => {
    ledger.acknowledged(0, 'msg_9');
    expect(violations([view(0)], ['A response was 500.'])).toEqual([
      'message 0 was acknowledged as msg_0 and msg_9',
      'A response was 500.',
    ]);
  });
});
