/** What a list is asked for. */
export interface Page {
  /** At least 1. */
  readonly limit: number;
  /** Only items older than the one with this id. */
  readonly before: string | null;
}
