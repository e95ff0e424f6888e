import { databaseClock } from '#kernel/clock.js';
import { lowestId } from '#kernel/ids.js';

const DAY_MS = 86_400_000;

/** What `prepared` takes, and `query` of a client. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** A condition on a column with the id of a message; empty for messages of any day. */
export type IsOfDay = (id: string) => string;

interface Variant {
  readonly statement: Statement;
  /** The lowest id of the day, and of the next one. */
  readonly from: string;
  readonly until: string;
}

/**
 * A statement that finds messages by their ids. PostgreSQL would look for each in every partition. A partition spans whole
 * days, and most batches are of today, so the text names the day: by the constraints `bounds` of the partitions, the
 * statement is planned for the one that has it. Messages of several days are found in all partitions.
 *
 * Only today and yesterday have a text, since each connection keeps a plan for it.
 */
export class DayStatement {
  private readonly ofAnyDay: Statement;
  private today = NaN;
  private variants: readonly Variant[] = [];

  constructor(
    private readonly name: string,
    private readonly write: (isOfDay: IsOfDay) => string,
  ) {
    this.ofAnyDay = { name, text: write(() => '') };
  }

  for(ids: readonly string[], now = databaseClock.now().getTime()): Statement {
    const today = now - (now % DAY_MS);
    if (this.today !== today) {
      this.today = today;
      this.variants = [today, today - DAY_MS].map((day) => this.of(new Date(day), new Date(day + DAY_MS)));
    }
    const variant = this.variants.find(({ from, until }) => ids.every((id) => from <= id && id < until));
    return variant?.statement ?? this.ofAnyDay;
  }

  private of(day: Date, next: Date): Variant {
    const [from, until] = [lowestId('msg', day), lowestId('msg', next)];
    // POSIX is the collation of ids, C, by another name: otherwise the planner could read a range of their index instead.
    const isOfDay: IsOfDay = (id) => ` AND ${id} COLLATE "POSIX" >= '${from}' AND ${id} COLLATE "POSIX" < '${until}'`;
    const name = `${this.name} ${day.toISOString().slice(0, 10)}`;
    return { statement: { name, text: this.write(isOfDay) }, from, until };
  }
}
