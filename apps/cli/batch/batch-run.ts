import { createHash, randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { folder, readIfAny, targetOf, writePrivately } from '../files/private-file.js';
import { CliError, EXIT } from '../support/exit-codes.js';
import { lock } from './lock.js';
import type { Chunk } from './lines.js';

/** What makes a run: with something else it would be another one. */
interface Terms {
  /** Whose messages they are: idempotency keys belong to an account. */
  readonly owner: string;
  /** The first line to send, and the number of messages a request: they decide where requests begin and end. */
  readonly from: number;
  readonly size: number;
  readonly deliverAt: string | null;
  /** The other fields of all messages, and whether lines are JSON, as JSON. */
  readonly fields: string;
}

interface State extends Terms {
  /** Idempotency keys are made of it and line numbers. */
  readonly run: string;
  /** The last line that the service has acknowledged, and the SHA-256 of all messages up to it. */
  readonly line: number;
  readonly digest: string;
  /** When the request with the lines after it was first sent, if its outcome is unknown. */
  readonly at: string | null;
}

/** How long the service remembers an idempotency key, with an hour to spare. */
const REMEMBERED_MS = 23 * 3_600_000;

/**
 * A run of `sluice send --batch` that can be continued after a crash: the state is written before each request, and a
 * request whose outcome is unknown is repeated with the same idempotency key.
 */
export class BatchRun {
  private readonly hash = createHash('sha256');

  private constructor(
    private readonly path: string | null,
    private state: State,
  ) {}

  /**
   * Continues the run that was interrupted, or begins one. Nobody else can do so until this process ends.
   * @param file where the state is kept; null for a run that cannot be continued
   * @param terms if `size` was not chosen, the size of the interrupted run is kept
   */
  static open(file: string | null, isRestarted: boolean, terms: Terms, isSizeChosen: boolean): BatchRun {
    const path = file === null ? null : targetOf(file);
    // Before it is locked: what is no state is not for this program to replace.
    if (path !== null) read(path);
    if (path !== null) lock(path);
    const state = path === null || isRestarted ? null : read(path);
    if (state === null) return new BatchRun(path, { ...terms, run: randomUUID(), line: 0, digest: '', at: null });
    compare(state, isSizeChosen ? terms : { ...terms, size: state.size });
    return new BatchRun(path, state);
  }

  /** Where the state of a file's run is kept unless the user chooses a place; null without a home directory. */
  static pathFor(file: string, baseUrl: string): string | null {
    const name = createHash('sha256').update(`${baseUrl}\n${file}`).digest('hex').slice(0, 32);
    const state = folder('XDG_STATE_HOME', '.local/state');
    return state && join(state, 'batches', `${name}.json`);
  }

  get canContinue(): boolean {
    return this.path !== null;
  }

  /** Whether an earlier start has sent something. */
  get isContinued(): boolean {
    return this.line > 0 || this.isInDoubt;
  }

  /** Whether the lines after the last one may be stored as well. */
  get isInDoubt(): boolean {
    return this.state.at !== null;
  }

  get from(): number {
    return this.state.from;
  }

  get size(): number {
    return this.state.size;
  }

  /** The last line that is known to be stored. */
  get line(): number {
    return this.state.line;
  }

  /**
   * The key does not depend on the content of the next lines: the service refuses lines that differ from the ones that
   * it has stored under the key.
   */
  get idempotencyKey(): string {
    return `sluice-batch-${this.state.run}-${this.state.line + 1}`;
  }

  /** Passes over a chunk that an earlier start has sent. @returns whether it is one */
  skip(chunk: Chunk): boolean {
    if (chunk.lastLine > this.state.line) return false;
    this.add(chunk);
    return true;
  }

  /** Call it before each request. */
  begin({ firstLine }: Chunk): void {
    this.checkLines();
    const { at, size } = this.state;
    if (at !== null && Date.now() - Date.parse(at) > REMEMBERED_MS) {
      throw new CliError(
        `The run was interrupted at ${at}, too long ago to repeat its last request safely. The request had at most ` +
          `${size} messages, from line ${firstLine} on. Find out with sluice list which of them are stored, and send the ` +
          'others with --restart --from-line.',
      );
    }
    this.change({ at: at ?? new Date().toISOString() });
  }

  /** The service has refused every request with the next lines. */
  withdraw(): void {
    this.change({ at: null });
  }

  acknowledge(chunk: Chunk): void {
    this.add(chunk);
    this.state = { ...this.state, line: chunk.lastLine, digest: this.digest(), at: null };
  }

  /** Everything is stored: the next run of the same input is a new one. */
  finish(): void {
    this.checkLines();
    if (this.path !== null) rmSync(this.path, { force: true });
  }

  private checkLines(): void {
    const { line, digest } = this.state;
    if (line === 0 || this.digest() === digest) return;
    throw new CliError(
      `The first ${line} lines are not those that were sent. Send the original input, or start again with --restart.`,
      EXIT.usage,
    );
  }

  private change(changes: Partial<State>): void {
    this.state = { ...this.state, ...changes };
    if (this.path !== null) writePrivately(this.path, JSON.stringify(this.state));
  }

  private add({ messages }: Chunk): void {
    for (const message of messages) this.hash.update(JSON.stringify(message));
  }

  private digest(): string {
    return this.hash.copy().digest('hex');
  }
}

function read(path: string): State | null {
  const text = readIfAny(path);
  if (text === null) return null;
  const state = parse(text);
  if (state !== null) return state;
  throw new CliError(`${path} is not the state of a batch: remove it, or name another file with --state.`, EXIT.usage);
}

/** @returns null if it is not in the format of this program */
function parse(text: string): State | null {
  try {
    const state = JSON.parse(text) as State;
    const { run, owner, digest, fields, from, size, line, deliverAt, at } = state as Readonly<
      Record<keyof State, unknown>
    >;
    const isRight =
      [run, owner, digest, fields].every((value) => typeof value === 'string') &&
      isCount(from, 1) &&
      isCount(size, 1) &&
      isCount(line, 0) &&
      [deliverAt, at].every(
        (value) => value === null || (typeof value === 'string' && !Number.isNaN(Date.parse(value))),
      );
    return isRight ? state : null;
  } catch {
    return null;
  }
}

function isCount(value: unknown, minimum: number): boolean {
  return Number.isSafeInteger(value) && Number(value) >= minimum;
}

function compare(state: State, terms: Terms): void {
  const differences = [
    state.owner !== terms.owner && `for ${state.owner}, and your key is of ${terms.owner}`,
    state.from !== terms.from && `with --from-line ${state.from}`,
    state.size !== terms.size && `with --batch-size ${state.size}`,
    state.deliverAt !== terms.deliverAt &&
      `with${state.deliverAt === null ? 'out' : ''} --deliver-at ${state.deliverAt ?? ''}`.trim(),
    state.fields !== terms.fields && 'with other values of --type, --metadata, --ordering-key or --jsonl',
  ].filter((difference) => difference !== false);
  if (differences.length === 0) return;
  throw new CliError(
    `The interrupted run was started ${differences.join(', ')}. Continue it like that, or start again with --restart.`,
    EXIT.usage,
  );
}
