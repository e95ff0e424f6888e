/** The parameters of a request for a page of a list. */
export interface Page {
  /** At least 1. */
  readonly limit: number;
  /** Only items older than the one with this id. */
  readonly before: string | null;
}
