/** Removes what a context has stored of an account that was deleted. `apps/forgetting.ts` lists all of it. */
export interface ForgetsAccounts {
  /**
   * Removes it in steps, each of bounded size and committed by itself: the caller may pause after a step. After a crash,
   * another call continues. What others store meanwhile may be left to another call, too.
   * @returns whether nothing was found that has to be left for now
   */
  forget(accountId: string): AsyncGenerator<void, boolean>;
}
