import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { UsageError } from '#platform/usage-error.js';
import { Ledger } from './verify/ledger.js';
import { allKept, formatReport } from './verify/report.js';
import { Verification } from './verify/verification.js';

const USAGE = `Usage: SLUICE_KEY=… npm run verify -- [options]

  --url <url>          the service; repeat it for several addresses of one service
                       (SLUICE_URL, or http://127.0.0.1:3000)
  --key <key>          an API key; prefer SLUICE_KEY, which ps does not show
  --duration <seconds> how long to send, 0 to 86400 (30; with --resume 0)
  --callers <n>        concurrent callers, 1 to 1024 (32)
  --rate <n>           requests a second, of all callers together, 1 to 100000 (500)
  --messages <n>       maximum number of messages, 1 to 1000000 (50000)
  --settle <seconds>   how long to wait for outstanding responses and deliveries, 0 to 86400 (120)
  --consume <how>      pull or webhooks: gets the messages itself, instead of leaving them to workers; not with --resume
  --receive <url>      how the service reaches this machine, with --consume webhooks (http://127.0.0.1 and a free port)
  --ledger <file>      the file to record responses in (a new temporary file)
  --resume             continues with the ledger of a killed run: repeats unknown outcomes, then compares

Exit code 0: every guarantee was kept. 1: one was broken. 2: the result is inconclusive.`;

function readOptions() {
  const { values } = parseArgs({
    options: {
      url: { type: 'string', multiple: true },
      key: { type: 'string' },
      duration: { type: 'string' },
      callers: { type: 'string' },
      rate: { type: 'string' },
      messages: { type: 'string' },
      settle: { type: 'string' },
      ledger: { type: 'string' },
      consume: { type: 'string' },
      receive: { type: 'string' },
      resume: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const integer = (
    name: 'duration' | 'callers' | 'rate' | 'messages' | 'settle',
    or: number,
    min: number,
    max: number,
  ) => {
    const text = values[name] ?? String(or);
    if (!/^\d{1,9}$/.test(text) || Number(text) < min || Number(text) > max) {
      throw new UsageError(`--${name} must be a whole number from ${min} to ${max}; it is "${text}".`);
    }
    return Number(text);
  };
  const apiKey = values.key ?? process.env.SLUICE_KEY ?? '';
  if (!values.help && !/^[\x21-\x7e]+$/.test(apiKey)) throw new UsageError('Set SLUICE_KEY to an API key.');
  if (values.resume && values.ledger === undefined)
    throw new UsageError('--resume requires --ledger, the file to continue with.');
  const consume = (['pull', 'webhooks'] as const).find((how) => how === values.consume) ?? null;
  if (values.consume !== undefined && consume === null) {
    throw new UsageError(`--consume must be pull or webhooks; it is "${values.consume}".`);
  }
  if (values.receive !== undefined && !/^http:\/\/[^/]+:\d+(\/|$)/.test(values.receive)) {
    throw new UsageError(`--receive must be a URL with a port, like http://10.0.0.1:4000; it is "${values.receive}".`);
  }
  if (consume !== null && values.resume) {
    throw new UsageError('--consume and --resume exclude each other: what was consumed before is not known.');
  }
  return {
    urls: (values.url ?? [process.env.SLUICE_URL ?? 'http://127.0.0.1:3000']).map(urlOf),
    apiKey,
    durationMs: 1_000 * integer('duration', values.resume ? 0 : 30, 0, 86_400),
    callers: integer('callers', 32, 1, 1_024),
    perSecond: integer('rate', 500, 1, 100_000),
    maxMessages: integer('messages', 50_000, 1, 1_000_000),
    settleMs: 1_000 * integer('settle', 120, 0, 86_400),
    ledger: values.ledger ?? join(tmpdir(), `sluice-verify-${Date.now()}.ndjson`),
    resume: values.resume,
    consume,
    receive: values.receive ?? null,
    help: values.help,
  };
}

function urlOf(text: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    throw new UsageError(`--url must be a URL like https://sluice.example.com; it is "${text}".`);
  }
  return text.replace(/\/+$/, '');
}

/** Checks the URL and the key before anything is sent. @returns the time of the service's clock */
async function connect(url: string, apiKey: string): Promise<Date> {
  const response = await fetch(`${url}/messages?limit=1`, { headers: { authorization: `Bearer ${apiKey}` } }).catch(
    (error: unknown) => {
      const { cause } = error as { cause?: { code?: string } };
      throw new UsageError(`${url} cannot be reached: ${cause?.code ?? String(error)}.`);
    },
  );
  if (response.status === 401) throw new UsageError(`${url} does not know this API key.`);
  if (response.status === 403) throw new UsageError('The key needs the scope messages:read, to list what is stored.');
  if (response.status !== 200) throw new UsageError(`${url}/messages returned ${response.status}: is it Sluice?`);
  const date = Date.parse(response.headers.get('date') ?? '');
  return Number.isNaN(date) ? new Date() : new Date(date);
}

function openLedger({ ledger, resume }: { ledger: string; resume: boolean }, begunAt: Date): Ledger {
  try {
    return resume ? Ledger.resume(ledger) : Ledger.create(ledger, begunAt);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw new UsageError(`${ledger} exists: continue with --resume, or choose another file.`);
    throw new UsageError(message);
  }
}

async function verify(): Promise<number> {
  const options = readOptions();
  if (options.help) {
    console.log(USAGE);
    return 0;
  }
  const [first = ''] = options.urls;
  const now = await connect(first, options.apiKey);
  const ledger = openLedger(options, now);
  console.log(`Verifying ${options.urls.join(', ')} with ${options.callers} callers. Ledger: ${options.ledger}`);
  const verification = new Verification({ ...options, ledger });
  const interrupted = new Promise<void>((resolve) => process.once('SIGINT', resolve));
  if (options.resume) await verification.resume(options.settleMs, now);
  await verification.startConsumers();
  verification.start(options.durationMs);
  await Promise.race([verification.ended(), interrupted]);
  await verification.stop(options.settleMs);
  console.log('Comparing …');
  const report = await verification.compare(options.settleMs);
  console.log(formatReport(report));
  return allKept(report) ? 0 : 1;
}

try {
  process.exitCode = await verify();
} catch (error) {
  const isExpected = error instanceof UsageError || 'code' in (error as Error);
  console.error(isExpected ? (error as Error).message : error);
  process.exitCode = 2;
}
