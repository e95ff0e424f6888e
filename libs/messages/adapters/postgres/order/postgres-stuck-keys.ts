import type { Database } from '#platform/database/database.js';
import { StuckKeys } from '../../../application/delivering/stuck-keys.js';
import { HEAL_LINES, INSPECT_LINES, type InspectedKey } from './lines.sql.js';
import type { ReleasedRow, Releases } from './releases.js';

/** Keys that one call looks at. */
const INSPECTED_AT_ONCE = 2_000;

export class PostgresStuckKeys extends StuckKeys {
  /** The next call begins after this key. */
  private last = { line: '', ordering_key: '' };

  constructor(
    private readonly database: Database,
    private readonly releases: Pick<Releases, 'start'>,
  ) {
    super();
  }

  async release(): Promise<number> {
    const { line, ordering_key: key } = this.last;
    const keys = await this.database.query<InspectedKey>(INSPECT_LINES, [line, key, INSPECTED_AT_ONCE]);
    this.last = keys.length < INSPECTED_AT_ONCE ? { line: '', ordering_key: '' } : (keys.at(-1) ?? this.last);
    const stuck = keys.filter(({ is_stuck }) => is_stuck);
    if (stuck.length === 0) return 0;
    const values = [stuck.map((one) => one.line), stuck.map((one) => one.ordering_key)];
    void this.releases.start(await this.database.query<ReleasedRow>(HEAL_LINES, values));
    return stuck.length;
  }
}
