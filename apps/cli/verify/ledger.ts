import { randomBytes } from 'node:crypto';
import { appendFileSync, openSync, readFileSync, writeSync } from 'node:fs';

/** The state of a message by the responses so far. Without a response it is `unknown`, since it may have been stored. */
export interface Entry {
  outcome: 'unknown' | 'acknowledged' | 'refused';
  /** Whether the service must refuse it. */
  readonly invalid: boolean;
  /** Whether the outcome was unknown at least once. */
  doubtful: boolean;
  /** The message's id, once it was acknowledged. */
  id?: string;
  /** Further ids that the service has returned for it, which must not happen. */
  otherIds?: string[];
}

/** What the account had before its messages were consumed: its delivery mode, or not this endpoint. */
export type Before = { readonly delivery: string } | { readonly endpointId: string };

/** How the run gets the messages itself; undefined when workers get them. */
export type Consume = 'pull' | 'webhooks' | undefined;

type Line =
  | { readonly run: string; readonly begunAt: string; readonly consume?: Consume }
  | { readonly is: 'changed'; readonly before: Before }
  | { readonly is: 'restored' }
  | { readonly n: number; readonly is: 'sent'; readonly invalid: boolean }
  | { readonly n: number; readonly is: 'acknowledged'; readonly id: string }
  | { readonly n: number; readonly is: 'refused'; readonly status: number }
  | { readonly n: number; readonly is: 'unknown'; readonly why: string };

/**
 * An append-only file of the messages sent and their responses. Each line is written before the run proceeds, so that
 * it can be resumed after the process was killed. Messages are numbered from 0.
 */
export class Ledger {
  readonly entries: Entry[] = [];
  /** What the account is still to be given back, the last change last. */
  readonly changes: Before[] = [];

  private constructor(
    private readonly file: number,
    /** Identifies the messages of this run. */
    readonly run: string,
    readonly begunAt: Date,
    readonly consume: Consume,
  ) {}

  /** @throws Error with code EEXIST when the file exists: it is not overwritten */
  static create(path: string, begunAt: Date, consume?: Consume): Ledger {
    const ledger = new Ledger(openSync(path, 'ax', 0o600), randomBytes(6).toString('hex'), begunAt, consume);
    ledger.write({ run: ledger.run, begunAt: begunAt.toISOString(), consume });
    return ledger;
  }

  /** @throws Error when the file can't be read or is not a ledger */
  static resume(path: string): Ledger {
    const text = readFileSync(path, 'utf8');
    const [first, ...lines] = text.split('\n').flatMap(parse);
    if (first === undefined || !('run' in first) || Number.isNaN(Date.parse(first.begunAt)))
      throw new Error(`${path} is not a ledger of this command.`);
    // A killed process may have left an incomplete line. It is ended here, and ignored when the ledger is read.
    if (!text.endsWith('\n')) appendFileSync(path, '\n');
    const ledger = new Ledger(openSync(path, 'a'), first.run, new Date(first.begunAt), first.consume);
    for (const line of lines) ledger.apply(line);
    return ledger;
  }

  textOf(n: number): string {
    return `verify ${this.run} ${n}`;
  }

  keyOf(n: number): string {
    return `verify-${this.run}-${n}`;
  }

  /** The number of the message with this text; null when it is not of this run. */
  numberOf(text: string): number | null {
    const [what, run, n = ''] = text.split(' ');
    return what === 'verify' && run === this.run && /^\d+/.test(n) ? Number.parseInt(n, 10) : null;
  }

  /** @returns the number of a new message, which is about to be sent */
  begin(invalid: boolean): number {
    const n = this.entries.length;
    this.note({ n, is: 'sent', invalid });
    return n;
  }

  acknowledged(n: number, id: string): void {
    this.note({ n, is: 'acknowledged', id });
  }

  refused(n: number, status: number): void {
    this.note({ n, is: 'refused', status });
  }

  unknown(n: number, why: string): void {
    this.note({ n, is: 'unknown', why });
  }

  /** The account is about to be changed. */
  changed(before: Before): void {
    this.note({ is: 'changed', before });
  }

  /** The last change was undone. */
  restored(): void {
    this.note({ is: 'restored' });
  }

  /** The numbers of the messages with this outcome. */
  all(outcome: Entry['outcome']): number[] {
    return this.entries.flatMap((entry, n) => (entry.outcome === outcome ? [n] : []));
  }

  private note(line: Line): void {
    this.write(line);
    this.apply(line);
  }

  private write(line: Line): void {
    writeSync(this.file, `${JSON.stringify(line)}\n`);
  }

  private apply(line: Line): void {
    if ('run' in line) return;
    if (line.is === 'changed') this.changes.push(line.before);
    else if (line.is === 'restored') this.changes.pop();
    else this.applyTo(line);
  }

  private applyTo(line: Extract<Line, { n: number }>): void {
    if (line.is === 'sent') this.entries[line.n] = { outcome: 'unknown', invalid: line.invalid, doubtful: false };
    const entry = this.entries[line.n];
    if (entry === undefined) return;
    if (line.is === 'unknown') entry.doubtful = true;
    if (line.is === 'refused') entry.outcome = 'refused';
    if (line.is === 'acknowledged') {
      entry.outcome = 'acknowledged';
      if (entry.id !== undefined && entry.id !== line.id) entry.otherIds = [...(entry.otherIds ?? []), line.id];
      entry.id ??= line.id;
    }
  }
}

function parse(line: string): Line[] {
  try {
    const value = JSON.parse(line) as Line | null;
    return typeof value === 'object' && value !== null ? [value] : [];
  } catch {
    // An incomplete line of a killed process. Without it the outcome is unknown, which is safe.
    return [];
  }
}
