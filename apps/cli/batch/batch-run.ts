import { createHash, randomUUID } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { folder, writePrivately } from '../support/credentials.js';
import { CliError, EXIT } from '../support/exit-codes.js';
import type { Chunk } from './lines.js';

interface State {
  /** Idempotency keys are made of it and line numbers. */
  readonly run: string;
  /** The first line to send, and the number of messages a request: they decide where requests begin and end. */
  readonly from: number;
  readonly size: number;
  /** The last line that the service has acknowledged, and the SHA-256 of all messages up to it. */
  readonly line: number;
  readonly digest: string;
  /** When the next request was begun, whose outcome is unknown if the run was interrupted. */
  readonly at: string;
}

/** How long the service remembers an idempotency key, with an hour to spare. */
const REMEMBERED_MS = 23 * 3_600_000;

/**
 * A run of `sluice send --batch` that can be continued after a crash: the state is written before each request, and a
 * request whose outcome is unknown is repeated with the same idempotency key.
 */
export class BatchRun {
  private readonly hash = createHash('sha256');
  private isChecked = false;

  private constructor(
    readonly path: string | null,
    private state: State,
  ) {}

  /** @param path where the state is kept; null for a run that cannot be continued */
  static begin(path: string | null, from: number, size: number): BatchRun {
    return new BatchRun(path, { run: randomUUID(), from, size, line: 0, digest: '', at: '' });
  }

  /** Continues a run that was interrupted; null if there is none. */
  static resume(path: string): BatchRun | null {
    let text: string;
    try {
      text = readFileSync(path, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
    }
    try {
      const state = JSON.parse(text) as State;
      if (typeof state.run === 'string' && state.size > 0) return new BatchRun(path, state);
    } catch {
      // Reported below.
    }
    throw new CliError(`${path} is not the state of a batch. Start again with --restart.`, EXIT.usage);
  }

  /** Where the state of a file's run is kept unless the user chooses a place. */
  static pathFor(file: string, baseUrl: string): string {
    const name = createHash('sha256').update(`${baseUrl}\n${file}`).digest('hex').slice(0, 32);
    return join(folder('XDG_STATE_HOME', '.local/state'), 'batches', `${name}.json`);
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

  idempotencyKey({ firstLine }: Chunk): string {
    return `sluice-batch-${this.state.run}-${firstLine}`;
  }

  /** Passes over a chunk that an earlier start has sent. @returns whether it is one */
  skip(chunk: Chunk): boolean {
    if (chunk.lastLine > this.state.line) return false;
    this.add(chunk);
    return true;
  }

  /** Call it before each request. */
  begin(chunk: Chunk): void {
    if (!this.isChecked) this.check(chunk);
    this.isChecked = true;
    this.state = { ...this.state, at: new Date().toISOString() };
    if (this.path !== null) writePrivately(this.path, JSON.stringify(this.state));
  }

  acknowledge(chunk: Chunk): void {
    this.add(chunk);
    this.state = { ...this.state, line: chunk.lastLine, digest: this.digest() };
  }

  /** Everything is stored: the next run of the same input is a new one. */
  finish(): void {
    if (this.path !== null) rmSync(this.path, { force: true });
  }

  private check({ firstLine }: Chunk): void {
    const { at, line, size, digest } = this.state;
    if (at === '') return;
    if (line > 0 && this.digest() !== digest) {
      throw new CliError(
        `The first ${line} lines are not those that were sent. Send the original input, or start again with --restart.`,
      );
    }
    if (Date.now() - Date.parse(at) > REMEMBERED_MS) {
      throw new CliError(
        `The run was interrupted at ${at}, too long ago to repeat its last request safely. Look with sluice list whether ` +
          `the up to ${size} messages from line ${firstLine} on are stored, then send what is not with --restart --from-line.`,
      );
    }
  }

  private add({ messages }: Chunk): void {
    for (const message of messages) this.hash.update(JSON.stringify(message));
  }

  private digest(): string {
    return this.hash.copy().digest('hex');
  }
}
