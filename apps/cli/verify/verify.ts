import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UsageError } from '#platform/process/usage-error.js';
import { fileError } from '../files/private-file.js';
import { networkFetch } from '../support/fetch.js';
import { stopSignal } from '../support/signals.js';
import { visible } from '../support/visible.js';
import { Ledger, type Consume } from './ledger.js';
import { formatReport, verdictOf } from './report.js';
import { reasonOf, TIMEOUT_MS } from './service.js';
import { Verification, type Report } from './verification.js';

/** Durations are in seconds. */
export interface VerifyOptions {
  /** Addresses of one service. */
  readonly urls: readonly string[];
  readonly apiKey: string;
  readonly callers: number;
  readonly rate: number;
  readonly messages: number;
  readonly settle: number;
  readonly duration?: number;
  readonly consume?: Consume;
  /** The URL of the receiver of webhooks. */
  readonly receive?: string | undefined;
  readonly ledger?: string;
  readonly resume?: true;
}

interface Result {
  readonly verdict: ReturnType<typeof verdictOf>;
  readonly text: string;
  readonly json: object;
}

/** Checks the guarantees of a service from outside. @throws Error if the result is inconclusive */
export async function verify(options: VerifyOptions, note: (line: string) => void): Promise<Result> {
  const { urls, apiKey, callers, consume, receive, resume = false } = options;
  const path = options.ledger ?? join(tmpdir(), `sluice-verify-${Date.now()}.ndjson`);
  const settleMs = 1_000 * options.settle;
  const [first = ''] = urls;
  const now = await connect(first, apiKey);
  const ledger = openLedger(path, resume, now, consume);
  note(`Verifying ${urls.join(', ')} with ${callers} callers. Ledger: ${path}`);
  const verification = new Verification({
    ...{ urls, apiKey, callers, ledger, receive },
    ...{ maxMessages: options.messages, perSecond: options.rate },
  });
  const interrupted = once(stopSignal(), 'abort');
  if (resume) await verification.resume(settleMs, now);
  let report: Report;
  try {
    await verification.startConsumers(note);
    verification.start(1_000 * (options.duration ?? (resume ? 0 : 30)));
    await Promise.race([verification.ended(), interrupted]);
    await verification.stop(settleMs);
    note('Comparing …');
    report = await verification.compare(settleMs);
  } finally {
    await verification.stopConsumers();
  }
  const verdict = verdictOf(report);
  const isKept = verdict === 'kept';
  if (isKept && report.counts.acknowledged === 0) {
    throw new UsageError('No message was acknowledged, so that there was nothing to verify.');
  }
  if (isKept && options.ledger === undefined) rmSync(path);
  const json = { ...report, responses: Object.fromEntries(report.responses) };
  return { verdict, text: formatReport(report), json };
}

/** Checks the URL and the key before anything is sent. @returns the time of the service's clock */
async function connect(url: string, apiKey: string): Promise<Date> {
  const request = networkFetch();
  const response = await request(`${url}/messages?limit=1`, {
    headers: { authorization: `Bearer ${apiKey}` },
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch((error: unknown) => {
    throw new UsageError(`${url} cannot be reached: ${reasonOf(error)}.`);
  });
  if (response.status === 401) throw new UsageError(`${url} does not know this API key.`);
  if (response.status === 403) throw new UsageError('The key needs the scope messages:read, to list what is stored.');
  if (response.status !== 200) {
    const problem = (await response.json().catch(() => null)) as { detail?: unknown } | null;
    const reason = typeof problem?.detail === 'string' ? visible(problem.detail) : 'is it Sluice?';
    throw new UsageError(`${url}/messages returned ${response.status}: ${reason}`);
  }
  const date = Date.parse(response.headers.get('date') ?? '');
  return Number.isNaN(date) ? new Date() : new Date(date);
}

function openLedger(path: string, resume: boolean, begunAt: Date, consume: Consume): Ledger {
  try {
    return resume ? Ledger.resume(path) : Ledger.create(path, begunAt, consume);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw new UsageError(`${path} exists: continue with --resume, or choose another file.`);
    throw new UsageError(code === undefined ? message : fileError(path, resume ? 'read' : 'created', error).message);
  }
}
