import { closeSync, existsSync, openSync } from 'node:fs';
import { Writable } from 'node:stream';
import pg from 'pg';
import { symbols } from 'pino';
import { createTestDatabase } from '../../../test/support/database.js';
import { describeUnless } from '../../../test/support/skipping.js';
import { createLogger } from './logging.js';

function logOf(error: unknown): { text: string; err: Record<string, unknown> } {
  let text = '';
  const destination = new Writable({
    write(chunk: Buffer, _encoding, done) {
      text += chunk.toString();
      done();
    },
  });
  createLogger('info', 'test', destination).warn({ err: error }, 'failed');
  return { text, err: (JSON.parse(text) as { err: Record<string, unknown> }).err };
}

describeUnless(existsSync('/dev/full') ? null : 'There is no /dev/full.')('A log that cannot be written', () => {
  it.each([
    ['on a full disk', '/dev/full', 'w'],
    ['to a descriptor for reading', '/dev/zero', 'r'],
  ])('does not end the process, nor fill its memory: %s', (_what, path, flags) => {
    const fd = openSync(path, flags);
    const stdout = jest.spyOn(process, 'stdout', 'get').mockReturnValue({ fd, isTTY: false } as typeof process.stdout);
    const logger = createLogger('info', 'test');
    stdout.mockRestore();
    const before = process.memoryUsage().heapUsed;
    for (let i = 0; i < 1_000; i++) logger.info('x'.repeat(100_000));
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(50_000_000);
    // As pino does when the process ends.
    (logger as unknown as Record<symbol, { flushSync(): void }>)[symbols.streamSym]?.flushSync();
    closeSync(fd);
  });
});

describe('An error in the log', () => {
  it('contains type, message, stack, code and causes', () => {
    const stack = expect.stringContaining('logging.spec') as string;
    const cause = Object.assign(new TypeError('inner'), { code: 'ECONNRESET' });
    const { err } = logOf(new Error('outer', { cause }));
    expect(err).toEqual({
      ...{ type: 'Error', message: 'outer', stack },
      cause: { type: 'TypeError', message: 'inner', code: 'ECONNRESET', stack },
    });
  });

  it('contains nothing of the connection that was lost', async () => {
    const database = await createTestDatabase();
    const pool = new pg.Pool({ connectionString: database.url, max: 2 });
    try {
      const lost = new Promise((resolve) => pool.once('error', resolve));
      const [client, other] = [await pool.connect(), await pool.connect()];
      const { rows } = await client.query<{ pid: number }>({
        ...{ name: 'prepared', text: 'SELECT pg_backend_pid() AS pid, $1::text AS secret', values: ['in-the-values'] },
      });
      client.release();
      await other.query('SELECT pg_terminate_backend($1)', [rows[0]?.pid]);
      other.release();
      const error = await lost;
      expect(error).toHaveProperty('client');
      const { text, err } = logOf(error);
      expect(err).toMatchObject({ message: expect.any(String) as string });
      expect(Object.keys(err).filter((key) => !['type', 'message', 'stack', 'code'].includes(key))).toEqual([]);
      expect(text).not.toMatch(/secretKey|in-the-values|prepared|connectionParameters/);
    } finally {
      await pool.end();
      await database.drop();
    }
  });

  it('contains nothing of the statement that failed', () => {
    const driverError = Object.assign(new Error('duplicate key'), { detail: 'Key (secret)', where: 'COPY secret' });
    const { text, err } = logOf(
      Object.assign(new Error('duplicate key'), {
        ...{ code: '23505', detail: 'Key (secret)', query: 'INSERT secret', parameters: ['secret'], driverError },
      }),
    );
    expect(err).toMatchObject({ type: 'Error', message: 'duplicate key', code: '23505' });
    expect(text).not.toContain('secret');
  });

  it('ends when causes are circular', () => {
    const error = new Error('circle');
    error.cause = error;
    expect(logOf(error).text.match(/"message":"circle"/g)).toHaveLength(6);
  });

  it.each([
    ['a text', 'as it is', { message: 'as it is' }],
    ['an object', { secret: 'unknown' }, { type: 'object' }],
    ['nothing', null, { type: 'object' }],
  ])('may be no error at all: %s', (_what, thrown, logged) => {
    expect(logOf(thrown).err).toEqual(logged);
  });
});

it('The number of lines per repeated fault is bounded, independently of other faults', async () => {
  let lines: { msg: string; level: number }[] = [];
  const destination = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines = [
        ...lines,
        ...chunk
          .toString()
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as (typeof lines)[number]),
      ];
      done();
    },
  });
  const logger = createLogger('info', 'test', destination);
  for (let count = 0; count < 1_000; count++) {
    logger.warn({ count }, 'request');
    logger.error('repeated');
    logger.info('wanted');
  }
  const counted = (text: string) => lines.filter(({ msg }) => msg === text);
  expect([counted('request').length, counted('repeated').length, counted('wanted').length]).toEqual([20, 20, 1_000]);
  while (counted('lines omitted').length < 2) await new Promise((resolve) => setTimeout(resolve, 20));
  expect(counted('lines omitted')).toMatchObject([
    { omitted: 980, repeated: 'request' },
    { omitted: 980, repeated: 'repeated' },
  ]);
});
