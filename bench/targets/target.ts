import type { Watched } from '../load/run-load.js';
import type { BenchEnvironment, BenchDatabase } from '../parts/environment.js';
import type { Program } from '../parts/program.js';
import type { Check } from '../report/report.js';

/** A running server for `POST /messages` with a database of its own. */
export interface Serving {
  readonly url: string;
  /** API keys without effective limits, used in turn; empty if the target has no keys. */
  readonly keys: readonly string[];
  readonly server: Program;
  readonly watched: Watched;
  /** Null if the target stores nothing. */
  readonly store: BenchDatabase | null;
  /**
   * Compares the responses with what is stored.
   * @param accepted requests with status 202 since the last check
   * @param unknown requests that may or may not be stored, 0 by default
   */
  check(accepted: number, unknown?: number): Promise<readonly Check[]>;
  stop(): Promise<void>;
}

export interface Target {
  readonly name: string;
  start(bench: BenchEnvironment): Promise<Serving>;
}
