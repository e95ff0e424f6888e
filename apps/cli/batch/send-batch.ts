import { realpathSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  AuthenticationError,
  InvalidRequestError,
  PermissionError,
  RateLimitError,
  SluiceError,
  type NewMessage,
  type Sluice,
} from '#client/index.js';
import { readable } from '../input/arguments.js';
import { standardInput } from '../input/streams.js';
import { fieldsOf, type MessageFields } from '../input/message-fields.js';
import type { Context } from '../support/context.js';
import { CliError, EXIT } from '../support/exit-codes.js';
import { count, type Progress } from '../support/output.js';
import { visible } from '../support/visible.js';
import { stopSignal } from '../support/signals.js';
import { BatchRun } from './batch-run.js';
import { chunksOf, MAX_JSON_BYTES, MAX_TEXT_BYTES, parseLine, readLines, type Chunk, type Line } from './lines.js';

export interface BatchOptions extends MessageFields {
  readonly file?: string;
  readonly deliverAt?: string;
  readonly batchSize?: number;
  readonly fromLine?: number;
  readonly state?: string;
  readonly restart?: true;
  readonly jsonl?: true;
}

/** A window is at most a day. Timers of Node.js end at once if they are set for more than 24 days. */
const MAX_WAIT_MS = 86_400_000;
const INTERRUPTED = new CliError('Interrupted.', EXIT.interrupted);

/**
 * Sends each line of a file or of standard input as a message, and continues an interrupted run.
 * @param message the file, if it is not among the options
 */
export async function sendBatch(message: string | undefined, options: BatchOptions, context: Context): Promise<void> {
  const file = [options.file, message].find((name) => name !== undefined && name !== '-');
  if (file === undefined && process.stdin.isTTY) {
    throw new CliError('There are no lines: name a file with --file, or pipe them in.', EXIT.usage);
  }
  const { output } = context;
  const opened = file === undefined ? null : await openFile(file);
  const input = opened?.handle.createReadStream() ?? standardInput();
  const totalBytes = opened?.bytes ?? null;
  const path = options.state ?? (file === undefined ? null : BatchRun.pathFor(realpathSync(file), context.baseUrl));
  const isJsonl = options.jsonl === true || /\.(jsonl|ndjson)$/i.test(file ?? '');
  const { owner, suitableSize } = await lookUp(context.sluice());
  const terms = {
    owner,
    from: options.fromLine ?? 1,
    size: options.batchSize ?? suitableSize,
    deliverAt: options.deliverAt ?? null,
    fields: JSON.stringify({ ...fieldsOf(options), ...(isJsonl && { jsonl: true }) }),
  };
  const run = BatchRun.open(path, options.restart === true, terms, options.batchSize !== undefined);
  if (run.isContinued) output.note(`Continuing after line ${count(run.line)}.`);

  const stop = stopSignal();
  stop.addEventListener('abort', () => input.destroy(INTERRUPTED));
  const fields = { deliverAt: options.deliverAt, ...fieldsOf(options) };
  const toMessages = ({ messages, numbers }: Chunk) =>
    messages.map((text, at) => ({ ...fields, ...(isJsonl ? parseLine(text, numbers[at]) : { message: text }) }));
  const batch = new Batch(run, context, stop, toMessages, totalBytes);
  const lines = from(readLines(input as AsyncIterable<Buffer>, isJsonl ? MAX_JSON_BYTES : MAX_TEXT_BYTES), run.from);
  try {
    for await (const chunk of chunksOf(lines, run.size, Buffer.byteLength(JSON.stringify(fields)))) {
      const sent = run.skip(chunk) ? [] : await batch.send(chunk);
      if (output.isJson) for (const one of sent) output.item(one, () => one.id);
    }
    run.finish();
  } catch (error) {
    batch.progress.end();
    if (batch.isStarted) output.note(stoppedAt(run));
    throw stop.aborted ? INTERRUPTED : error;
  }
  batch.progress.end();
  if (!output.isJson) output.success(`${count(batch.sent, 'message')} sent.`);
}

async function openFile(path: string): Promise<{ handle: FileHandle; bytes: number }> {
  const handle = await readable(path, () => open(path));
  const found = await handle.stat();
  if (found.isDirectory()) throw new CliError(`${path} is a folder: name a file.`, EXIT.usage);
  return { handle, bytes: found.size };
}

function stoppedAt({ line, canContinue }: BatchRun): string {
  return `Stopped after line ${count(line)}. ${
    canContinue ? 'Run the same command again to continue.' : 'This run cannot be continued: it has no --state.'
  }`;
}

async function* from(lines: AsyncIterable<Line>, first: number): AsyncGenerator<Line> {
  for await (const line of lines) if (line.number >= first) yield line;
}

/**
 * Whose messages these will be, and how many should be in a request: a quarter of what the plan allows in a minute. A
 * request as large as the limit would only fit into a window in which nobody else sends anything.
 */
async function lookUp(sluice: Sluice): Promise<{ owner: string; suitableSize: number }> {
  const { id: owner } = await sluice.account.get().catch((error: unknown) => {
    // A key that may only send gets no account. Every response states the limits.
    if (error instanceof PermissionError) return sluice.account.keys.current();
    throw error;
  });
  const limits = sluice.rateLimit?.windows.map(({ limit }) => limit) ?? [];
  return { owner, suitableSize: Math.min(Math.max(Math.floor(Math.min(...limits) / 4), 1), 500) };
}

/** Sends chunks one after the other at the pace of the plan. */
class Batch {
  readonly progress: Progress;
  sent = 0;
  isStarted = false;
  private readonly sluice: Sluice;
  private isInDoubt = false;
  private end = 0;

  constructor(
    private readonly run: BatchRun,
    private readonly context: Context,
    private readonly stop: AbortSignal,
    private readonly toMessages: (chunk: Chunk) => NewMessage[],
    private readonly totalBytes: number | null,
  ) {
    this.progress = context.output.progress();
    this.sluice = context.sluice({
      maxTries: 6,
      onRetry: ({ error, waitMs }) => {
        if (!(error instanceof RateLimitError)) this.isInDoubt = true;
        this.showWait(error, waitMs);
      },
    });
  }

  async send(chunk: Chunk): Promise<readonly { readonly id: string }[]> {
    const messages = this.toMessages(chunk);
    this.isInDoubt = this.run.isInDoubt;
    for (;;) {
      this.stop.throwIfAborted();
      this.run.begin(chunk);
      this.isStarted = true;
      try {
        const { idempotencyKey } = this.run;
        const stored = await this.sluice.messages.sendBatch(messages, { idempotencyKey, signal: this.stop });
        this.run.acknowledge(chunk);
        this.sent += stored.length;
        this.end = chunk.end;
        this.show();
        return stored;
      } catch (error) {
        if (isRefusal(error) && !this.isInDoubt) this.run.withdraw();
        // The client has waited for short limits itself.
        if (!(error instanceof RateLimitError)) throw explain(error, chunk);
        const waitMs = Math.min(1_000 * (error.retryAfter ?? 60), MAX_WAIT_MS);
        this.showWait(error, waitMs);
        await sleep(waitMs, undefined, { signal: this.stop });
      }
    }
  }

  /** Says why nothing happens. */
  private showWait(error: SluiceError, waitMs: number): void {
    const reason = error instanceof RateLimitError ? ' for the limit of the plan' : `: ${visible(error.message)}`;
    const text = `waiting until ${new Date(Date.now() + waitMs).toLocaleTimeString()}${reason}`;
    if (this.progress.isVisible) this.show(`, ${text}`);
    else this.context.output.note(text);
  }

  private show(remark = ''): void {
    const { totalBytes, end } = this;
    this.progress.show(
      totalBytes === null ? null : end / totalBytes,
      `${count(this.sent)} sent${remark}`,
      remark !== '',
    );
  }
}

/** Whether nothing was stored. */
function isRefusal(error: unknown): boolean {
  const refusals = [RateLimitError, InvalidRequestError, AuthenticationError, PermissionError];
  return (
    refusals.some((kind) => error instanceof kind) || (error instanceof SluiceError && error.code === 'storage_full')
  );
}

/** Names the lines of the file. */
function explain(error: unknown, { firstLine, lastLine, numbers }: Chunk): unknown {
  if (!(error instanceof SluiceError)) return error;
  if (error.code === 'idempotency_key_reused') {
    return new CliError(
      `Lines ${firstLine} to ${lastLine} are not those that were sent when the run was interrupted. Send the original ` +
        'input. If you do not have it, find out with sluice list which messages are stored, and send the others with ' +
        '--restart --from-line.',
      EXIT.usage,
    );
  }
  const { message, code, status, requestId, retryAfter, problem } = error;
  if (!(error instanceof InvalidRequestError) || problem?.errors === undefined) return error;
  const errors = problem.errors.map(({ pointer, detail }) => {
    const line = numbers[Number(/^\/messages\/(\d+)\b/.exec(pointer)?.[1])];
    return { pointer: line === undefined ? pointer : `line ${line}`, detail };
  });
  return new InvalidRequestError({ message, code, status, requestId, retryAfter, problem: { ...problem, errors } });
}
