import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ledger } from './ledger.js';

describe('A ledger', () => {
  let folder: string;
  let path: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-ledger-'));
    path = join(folder, 'ledger');
  });

  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  it('is resumed with the same entries, and continues with the next number', () => {
    const begunAt = new Date('2026-11-21T09:30:00.000Z');
    const left = Ledger.create(path, begunAt);
    left.acknowledged(left.begin(false), 'msg_0');
    left.refused(left.begin(true), 400);
    left.unknown(left.begin(false), '503');
    left.begin(false);

    const taken = Ledger.resume(path);
    expect({ run: taken.run, begunAt: taken.begunAt }).toEqual({ run: left.run, begunAt });
    expect(taken.entries).toEqual(left.entries);
    expect(taken.all('unknown')).toEqual([2, 3]);
    expect(taken.begin(false)).toBe(4);
  });

  it('knows how messages were consumed, and what the account is still to be given back', () => {
    const left = Ledger.create(path, new Date(), 'webhooks');
    for (const before of [{ endpointId: 'ep_1' }, { delivery: 'handler' }]) left.changed(before);
    left.restored();
    expect(Ledger.resume(path)).toMatchObject({ consume: 'webhooks', changes: [{ endpointId: 'ep_1' }] });
  });

  it('loses nothing but the incomplete line of a killed process', () => {
    Ledger.create(path, new Date()).begin(false);
    appendFileSync(path, '{"n":0,"is":"ackno');
    const taken = Ledger.resume(path);
    taken.acknowledged(0, 'msg_0');
    expect(Ledger.resume(path).entries).toEqual([
      { outcome: 'acknowledged', invalid: false, doubtful: false, id: 'msg_0' },
    ]);
  });

  it('records every id that was returned for a message', () => {
    const ledger = Ledger.create(path, new Date());
    const n = ledger.begin(false);
    for (const id of ['msg_0', 'msg_0', 'msg_9']) ledger.acknowledged(n, id);
    expect(Ledger.resume(path).entries[n]).toMatchObject({ id: 'msg_0', otherIds: ['msg_9'] });
  });

  it('recognizes its own messages by their text', () => {
    const ledger = Ledger.create(path, new Date());
    expect(ledger.numberOf(ledger.textOf(17))).toBe(17);
    expect(ledger.numberOf(`${ledger.textOf(17)} \u0000`)).toBe(17);
    for (const text of ['', 'hello', 'verify other 17', `verify ${ledger.run}`, `verify ${ledger.run} x`]) {
      expect(ledger.numberOf(text)).toBeNull();
    }
  });

  it('overwrites no file, and resumes only ledgers', () => {
    writeFileSync(path, 'mine');
    expect(() => Ledger.create(path, new Date())).toThrow(/EEXIST/);
    expect(() => Ledger.resume(path)).toThrow(/is not a ledger/);
    expect(() => Ledger.resume(join(folder, 'none'))).toThrow(/ENOENT/);
    expect(readFileSync(path, 'utf8')).toBe('mine');
  });
});
