/**
 * Whether the account is suspended or paused: nothing of it is delivered. As a condition EXISTS, it would let the planner
 * read all such accounts.
 */
export const isHalted = (account: string): string =>
  `(SELECT true FROM sluice.halted_accounts halted WHERE halted.id = ${account} LIMIT 1) IS TRUE`;

/** Whether the account was deleted: its messages are being removed. */
export const isDeleted = (account: string): string => `sluice.is_account_deleted(${account})`;
