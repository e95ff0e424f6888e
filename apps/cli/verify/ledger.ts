import { randomBytes } from 'node:crypto';
import { appendFileSync, openSync, readFileSync, writeSync } from 'node:fs';

/** What the service has said of a message so far; nothing yet is `unknown`, for it may have been stored. */
export interface Entry {
  fate: 'unknown' | 'acknowledged' | 'refused';
  /** Sent in a form that the service must refuse. */
  readonly wrong: boolean;
  /** Whether an answer was lost at least once. */
  doubtful: boolean;
  /** The message's id, once it was acknowledged. */
  id?: string;
  /** Every message id that the service has told for it, when there is more than one. */
  others?: string[];
}

type Line =
  | { readonly run: string; readonly begunAt: string }
  | { readonly n: number; readonly is: 'sent'; readonly wrong: boolean }
  | { readonly n: number; readonly is: 'acknowledged'; readonly id: string }
  | { readonly n: number; readonly is: 'refused'; readonly status: number }
  | { readonly n: number; readonly is: 'unknown'; readonly why: string };

/**
 * What was sent and what was said of it, in a file that only grows: each line is written before whatever it tells of
 * goes on, so that a killed process can be taken up where it was. Messages are numbered from 0.
 */
export class Ledger {
  readonly entries: Entry[] = [];

  private constructor(
    private readonly file: number,
    /** What tells this run's messages from all others. */
    readonly run: string,
    readonly begunAt: Date,
  ) {}

  /** @throws Error with code EEXIST when there is such a file: nobody's ledger is overwritten */
  static create(path: string, begunAt: Date): Ledger {
    const ledger = new Ledger(openSync(path, 'ax', 0o600), randomBytes(6).toString('hex'), begunAt);
    ledger.write({ run: ledger.run, begunAt: begunAt.toISOString() });
    return ledger;
  }

  /** @throws Error when the file can't be read, or is no ledger */
  static resume(path: string): Ledger {
    const text = readFileSync(path, 'utf8');
    const [first, ...lines] = text.split('\n').flatMap(parse);
    if (first === undefined || !('run' in first)) throw new Error(`${path} is no ledger of this command.`);
    // A process that was killed may have left half a line. It ends here, and is passed over from then on.
    if (!text.endsWith('\n')) appendFileSync(path, '\n');
    const ledger = new Ledger(openSync(path, 'a'), first.run, new Date(first.begunAt));
    for (const line of lines) ledger.apply(line);
    return ledger;
  }

  textOf(n: number): string {
    return `verify ${this.run} ${n}`;
  }

  keyOf(n: number): string {
    return `verify-${this.run}-${n}`;
  }

  /** The number of the message of this text; null when it is none of this run. */
  numberOf(text: string): number | null {
    const [what, run, n = ''] = text.split(' ');
    return what === 'verify' && run === this.run && /^\d+/.test(n) ? Number.parseInt(n, 10) : null;
  }

  /** @returns the number of a new message, which is about to be sent */
  begin(wrong: boolean): number {
    const n = this.entries.length;
    this.note({ n, is: 'sent', wrong });
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

  /** The numbers of messages of a fate. */
  all(fate: Entry['fate']): number[] {
    return this.entries.flatMap((entry, n) => (entry.fate === fate ? [n] : []));
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
    if (line.is === 'sent') this.entries[line.n] = { fate: 'unknown', wrong: line.wrong, doubtful: false };
    const entry = this.entries[line.n];
    if (entry === undefined) return;
    if (line.is === 'unknown') entry.doubtful = true;
    if (line.is === 'refused') entry.fate = 'refused';
    if (line.is === 'acknowledged') {
      entry.fate = 'acknowledged';
      if (entry.id !== undefined && entry.id !== line.id) entry.others = [...(entry.others ?? []), line.id];
      entry.id ??= line.id;
    }
  }
}

function parse(line: string): Line[] {
  try {
    return line === '' ? [] : [JSON.parse(line) as Line];
  } catch {
    // Half a line, of a process that was killed: what it would have told is unknown, which is what it counts as.
    return [];
  }
}
