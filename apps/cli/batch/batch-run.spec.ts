import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BatchRun } from './batch-run.js';
import type { Chunk } from './lines.js';

const TERMS = { owner: 'acct_1', from: 1, size: 2, deliverAt: null, fields: '{}' };
const HOUR_MS = 3_600_000;

const chunkOf = (firstLine: number, ...messages: string[]): Chunk => ({
  ...{ firstLine, lastLine: firstLine + messages.length - 1, messages },
  ...{ numbers: messages.map((_message, index) => firstLine + index), end: 0 },
});
const FIRST = chunkOf(1, 'a', 'b');
const SECOND = chunkOf(3, 'c', 'd');

describe('A run of a batch', () => {
  let folder: string;
  let path: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-run-'));
    path = join(folder, 'run.json');
  });
  afterEach(() => {
    jest.useRealTimers();
    rmSync(folder, { recursive: true });
  });

  /** As another process, after the one before has ended. */
  const open = (terms: Partial<typeof TERMS> = {}, isRestarted = false, isSizeChosen = true) => {
    rmSync(`${path}.lock`, { force: true });
    return BatchRun.open(path, isRestarted, { ...TERMS, ...terms }, isSizeChosen);
  };
  const send = (run: BatchRun, chunk: Chunk) => {
    run.begin(chunk);
    const key = run.idempotencyKey;
    run.acknowledge(chunk);
    return key;
  };

  it('uses an idempotency key for each request that no other run uses', () => {
    const [one, other] = [BatchRun.open(null, false, TERMS, true), BatchRun.open(null, false, TERMS, true)];
    const keys = [FIRST, SECOND].flatMap((chunk) => [send(one, chunk), send(other, chunk)]);
    expect(new Set(keys).size).toBe(4);
  });

  it('repeats a request whose outcome is unknown with its key', () => {
    const run = open();
    send(run, FIRST);
    run.begin(SECOND);
    const key = run.idempotencyKey;
    const next = open();
    expect([next.isContinued, next.isInDoubt, next.skip(FIRST), next.skip(SECOND)]).toEqual([
      ...[true, true, true],
      false,
    ]);
    next.begin(SECOND);
    expect(next.idempotencyKey).toBe(key);
  });

  it('does not send acknowledged lines again', () => {
    const run = open();
    send(run, FIRST);
    run.begin(SECOND);
    run.withdraw();
    const next = open();
    expect([next.isInDoubt, next.line, next.skip(FIRST)]).toEqual([false, 2, true]);
    send(next, SECOND);
    next.finish();
    expect(open().isContinued).toBe(false);
  });

  it.each([
    ['changed', chunkOf(1, 'a', 'x')],
    ['joined', chunkOf(1, 'ab', '')],
    ['left out', chunkOf(1, 'b', 'a')],
  ])('is refused when lines that were sent are %s', (_how, lines) => {
    const run = open();
    send(run, FIRST);
    run.begin(SECOND);
    const next = open();
    next.skip(lines);
    expect(() => {
      next.begin(SECOND);
    }).toThrow('The first 2 lines are not those that were sent.');
    expect(() => {
      next.finish();
    }).toThrow('The first 2 lines');
  });

  it.each([
    [{ owner: 'acct_2' }, 'for acct_1, and your key is of acct_2'],
    [{ from: 2 }, 'with --from-line 1'],
    [{ size: 3 }, 'with --batch-size 2'],
    [{ deliverAt: '2026-01-01T00:00:00Z' as never }, 'without --deliver-at'],
  ])('is refused with other terms: %j', (terms, sentence) => {
    open().begin(FIRST);
    expect(() => open(terms)).toThrow(sentence);
    expect(open(terms, true).isContinued).toBe(false);
  });

  it('keeps its size unless another one is chosen', () => {
    open().begin(FIRST);
    expect(open({ size: 9 }, false, false).size).toBe(2);
  });

  it('is refused once the key may have expired, counted from the first attempt', () => {
    jest.useFakeTimers({ now: 0 });
    open().begin(FIRST);
    jest.setSystemTime(20 * HOUR_MS);
    open().begin(FIRST);
    jest.setSystemTime(22 * HOUR_MS);
    open().begin(FIRST);
    jest.setSystemTime(23 * HOUR_MS + 1);
    expect(() => {
      open().begin(FIRST);
    }).toThrow('too long ago to repeat its last request safely');
  });

  it('writes its state to a private file, and refuses a damaged one', () => {
    open().begin(FIRST);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(path, 'utf8')).not.toContain('"a"');
    for (const text of ['', '{}', 'null', '{"run":1']) {
      writeFileSync(path, text);
      expect(() => open()).toThrow('is not the state of a batch');
    }
  });
});
