import { createReadStream, realpathSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { InvalidRequestError, PermissionError, RateLimitError, SluiceError, type Sluice } from '#client/index.js';
import { BatchRun } from '../batch/batch-run.js';
import { chunksOf, readLines, type Chunk, type Line } from '../batch/lines.js';
import { instant, integer, withExamples } from '../support/arguments.js';
import type { Context } from '../support/context.js';
import { CliError, EXIT } from '../support/exit-codes.js';
import { count, visible, type Progress } from '../support/output.js';
import { stopSignal } from '../support/signals.js';

interface Options {
  readonly file?: string;
  readonly deliverAt?: string;
  readonly idempotencyKey?: string;
  readonly batch?: true;
  readonly batchSize?: number;
  readonly fromLine?: number;
  readonly state?: string;
  readonly restart?: true;
}

const INTERRUPTED = new CliError('Interrupted.', EXIT.interrupted);
const BATCH_OPTIONS = ['batch-size', 'from-line', 'state', 'restart'];

export function addSend(program: Command, context: Context): void {
  const command = program
    .command('send')
    .description('Send a message, or with --batch one for each line of a file')
    .argument('[message]', 'the text; without it, or with -, standard input is sent as it is')
    .option('-f, --file <path>', 'send the content of a file')
    .option('--deliver-at <time>', 'deliver at this time, up to 30 days ahead', instant)
    .option('--idempotency-key <key>', 'a repetition with the same key creates no second message')
    .option('--batch', 'send each line of the file or of standard input as a message; empty lines are left out')
    .option(
      '--batch-size <n>',
      'messages a request (a quarter of the limit per minute, at most 500)',
      integer(1, 1_000),
    )
    .option('--from-line <n>', 'leave out the lines before this one', integer(1, 1e15))
    .option('--state <path>', 'keep the progress in this file, so that a run from standard input can be continued')
    .option('--restart', 'forget an interrupted run and start with the first line')
    .action(async (message: string | undefined, options: Options) => {
      if (options.batch === true && options.idempotencyKey !== undefined) {
        command.error('error: --batch makes idempotency keys of its own: leave out --idempotency-key');
      }
      if (options.batch === true) return sendBatch(message, options, context);
      const batchOnly = command.options.find(
        (option) => BATCH_OPTIONS.includes(option.name()) && options[option.attributeName() as keyof Options],
      );
      if (batchOnly !== undefined) command.error(`error: --${batchOnly.name()} requires --batch`);
      if (message !== undefined && options.file !== undefined)
        command.error('error: name a message or a file, not both');
      return sendOne(message, options, context);
    });
  withExamples(
    command,
    "sluice send 'Order 4711 is paid'",
    "sluice send 'Good morning' --deliver-at 2026-11-22T07:00:00Z",
    'jq -c .order invoice.json | sluice send',
    'sluice send --batch --file orders.txt',
  );
}

async function sendOne(message: string | undefined, options: Options, context: Context): Promise<void> {
  const { deliverAt, idempotencyKey } = options;
  const sluice = context.sluice();
  const text = message !== undefined && message !== '-' ? message : decode(await readAll(options.file));
  const sent = await sluice.messages.send(text, {
    ...(deliverAt !== undefined && { deliverAt }),
    ...(idempotencyKey !== undefined && { idempotencyKey }),
  });
  context.output.result(sent, () => sent.id);
  if (context.output.isTerminal)
    context.output.success(deliverAt === undefined ? 'Queued' : `Scheduled for ${deliverAt}`);
}

async function readAll(file: string | undefined): Promise<Buffer> {
  if (file !== undefined && file !== '-') return readable(() => readFile(file));
  if (process.stdin.isTTY) throw new CliError('There is no message: name one, or pipe it in.', EXIT.usage);
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** A file that cannot be read is a wrong argument. */
async function readable<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw new CliError(`The file cannot be read: ${(error as Error).message}.`, EXIT.usage);
  }
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new CliError('The message is not valid UTF-8: encode it, for example as base64.');
  }
}

async function sendBatch(message: string | undefined, options: Options, context: Context): Promise<void> {
  const file = [options.file, message].find((name) => name !== undefined && name !== '-');
  if (file === undefined && process.stdin.isTTY) {
    throw new CliError('There are no lines: name a file with --file, or pipe them in.', EXIT.usage);
  }
  const { output } = context;
  const totalBytes = file === undefined ? null : (await readable(() => stat(file))).size;
  const path = options.state ?? (file === undefined ? null : BatchRun.pathFor(realpathSync(file), context.baseUrl));
  const { owner, suitableSize } = await lookUp(context.sluice());
  const terms = {
    owner,
    from: options.fromLine ?? 1,
    size: options.batchSize ?? suitableSize,
    deliverAt: options.deliverAt ?? null,
  };
  const run = BatchRun.open(path, options.restart === true, terms, options.batchSize !== undefined);
  if (run.isContinued) output.note(`Continuing after line ${count(run.line)}.`);

  const stop = stopSignal();
  const input = file === undefined ? process.stdin : createReadStream(file);
  stop.addEventListener('abort', () => input.destroy(INTERRUPTED));
  const batch = new Batch(run, context, stop, options.deliverAt, totalBytes);
  try {
    for await (const chunk of chunksOf(from(readLines(input as AsyncIterable<Buffer>), run.from), run.size)) {
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

function stoppedAt({ line, canContinue }: BatchRun): string {
  return `Stopped after line ${count(line)}. ${
    canContinue ? 'Run the same command again to continue.' : 'This run cannot be continued: it has no --state.'
  }`;
}

async function* from(lines: AsyncIterable<Line>, first: number): AsyncGenerator<Line> {
  for await (const line of lines) if (line.number >= first) yield line;
}

/**
 * Whose messages these will be, and how many should be in a request: a quarter of what the plan allows in a minute.
 * Requests of the whole would only fit into a window in which nobody else sends anything.
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
    private readonly deliverAt: string | undefined,
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
    const messages = chunk.messages.map((message) => ({
      message,
      ...(this.deliverAt !== undefined && { deliverAt: this.deliverAt }),
    }));
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
        const isRefused = error instanceof RateLimitError || error instanceof InvalidRequestError;
        if (isRefused && !this.isInDoubt) this.run.withdraw();
        // The client has waited for short limits itself.
        if (!(error instanceof RateLimitError)) throw explain(error, chunk);
        const waitMs = 1_000 * (error.retryAfter ?? 60);
        this.showWait(error, waitMs);
        await sleep(waitMs, undefined, { signal: this.stop });
      }
    }
  }

  /** Says why nothing happens. */
  private showWait(error: SluiceError, waitMs: number): void {
    const reason = error instanceof RateLimitError ? 'for the limit of the plan' : `because ${visible(error.message)}`;
    const text = `waiting until ${new Date(Date.now() + waitMs).toLocaleTimeString()} ${reason}`;
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

/** Names the lines of the file. */
function explain(error: unknown, { firstLine, lastLine, numbers }: Chunk): unknown {
  if (!(error instanceof SluiceError)) return error;
  if (error.code === 'idempotency_key_reused') {
    return new CliError(
      `Lines ${firstLine} to ${lastLine} are not those that were sent when the run was interrupted. Send the original ` +
        'input, or look with sluice list which are stored, then send what is not with --restart --from-line.',
      EXIT.usage,
    );
  }
  const { message, code, requestId, retryAfter, problem } = error;
  if (!(error instanceof InvalidRequestError) || problem?.errors === undefined) return error;
  const errors = problem.errors.map(({ pointer, detail }) => {
    const line = numbers[Number(/^\/messages\/(\d+)\b/.exec(pointer)?.[1])];
    return { pointer: line === undefined ? pointer : `line ${line}`, detail };
  });
  const { status } = problem;
  return new InvalidRequestError({ message, code, status, requestId, retryAfter, problem: { ...problem, errors } });
}
