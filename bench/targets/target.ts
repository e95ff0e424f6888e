import type { Watched } from '../load/drive.js';
import type { Bed, Store } from '../parts/bed.js';
import type { Program } from '../parts/program.js';
import type { Check } from '../report/report.js';

/** Something that answers `POST /messages`, running on a database of its own. */
export interface Serving {
  readonly url: string;
  /** An API key that meets no limits; null where there are none. */
  readonly key: string | null;
  readonly server: Program;
  readonly watched: Watched;
  /** Null where nothing is stored. */
  readonly store: Store | null;
  /**
   * Compares what was told to callers with what is stored.
   * @param accepted how many got 202 since the last check
   * @param unknown how many got an answer that leaves open whether theirs is stored, none by default
   */
  check(accepted: number, unknown?: number): Promise<readonly Check[]>;
  stop(): Promise<void>;
}

export interface Target {
  readonly name: string;
  start(bed: Bed): Promise<Serving>;
}
