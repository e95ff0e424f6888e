import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import { ROOT } from '../../support/processes.js';

const PLATFORM = pathToFileURL(join(ROOT, 'dist/libs/platform/')).href;

describe('A process', () => {
  let child: ChildProcess & { stdout: NodeJS.ReadableStream; stderr: NodeJS.ReadableStream };
  afterEach(() => {
    child.kill('SIGKILL');
  });

  const run = (script: string) => {
    const limits = { timeout: 30_000, killSignal: 'SIGKILL' } as const;
    child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'pipe'],
      ...limits,
    });
    return once(child, 'exit');
  };

  describe('whose log nobody reads on ends', () => {
    it.each([
      ['when it exits', 'process.exit(3)', 3],
      ['by an error that nothing catches', "throw new Error('x')", 1],
      ['by a rejection that nothing handles', "Promise.reject(new Error('x'))", 1],
    ])('%s', async (_how, end, code) => {
      // Standard output is a pipe that is full, and not read.
      const ended = run(`
        import { createLogger } from '${PLATFORM}observability/logging.js';
        const logger = createLogger('info', 'test');
        setInterval(() => undefined, 1_000);
        for (let line = 0; line < 1_000; line++) logger.info('x'.repeat(1_000));
        setTimeout(() => { ${end} }, 300);`);
      expect(await ended).toEqual([code, null]);
    });
  });

  const watched = (then: string, limitMs = 1_000) => `
    import { killWhenBlocked } from '${PLATFORM}process/watchdog.js';
    killWhenBlocked('test', ${limitMs});
    console.log('started');
    ${then}`;
  const BLOCKED = 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0';

  it.each([
    ['a loop', 'for (;;);'],
    ['a wait', `${BLOCKED});`],
    ['a regular expression', `/^(a+)+$/.test('a'.repeat(60) + 'b');`],
    ['a chain of promises', 'const again = () => Promise.resolve().then(again); again();'],
    ['a loop later', 'setTimeout(() => { for (;;); }, 100);'],
  ])('is killed when it is blocked by %s, and says so', async (_what, block) => {
    const ended = run(watched(block));
    expect(await text(child.stderr)).toBe(
      'test: The event loop has been blocked for 1 s, so that the process is killed.\n',
    );
    expect(await ended).toEqual([null, 'SIGKILL']);
  });

  // Times that no busy machine stretches to the limit.
  it('is not killed when it is blocked for less than that, however often', async () => {
    const ended = run(watched(`for (let n = 0; n < 14; n++) setTimeout(() => ${BLOCKED}, 500), n * 600);`, 3_000));
    expect(await text(child.stderr)).toBe('');
    expect(await ended).toEqual([0, null]);
  });

  it('is not kept running, nor killed, when it has nothing left to do', async () => {
    const ended = run(watched(''));
    expect(await text(child.stderr)).toBe('');
    expect(await ended).toEqual([0, null]);
  });

  it('is not killed when it was suspended for longer', async () => {
    const ended = run(watched('setTimeout(() => process.exit(0), 6_000);', 5_000));
    await once(child.stdout, 'data');
    child.kill('SIGSTOP');
    await sleep(7_000);
    child.kill('SIGCONT');
    expect(await ended).toEqual([0, null]);
  });
});
