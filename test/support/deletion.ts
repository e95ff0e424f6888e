import { expectStatus, OPERATOR, type TestApi } from './api.js';
import { until } from './processes.js';

/** Messages are counted for the usage before they are removed, some seconds after they were accepted. */
const FORGOTTEN_WITHIN_MS = 150_000;

/** Has what is stored of an account that was deleted looked for now, instead of when transactions have surely ended. */
export async function passAtOnce(api: TestApi, accountId: string): Promise<void> {
  const text = 'UPDATE sluice.deleted_accounts SET next_pass_at = clock_timestamp() WHERE account_id = $1';
  // The databases of tests are in REPEATABLE READ.
  await api.sql(text, [accountId]).catch(() => undefined);
}

/** Resolves when even the id of a deleted account is removed. */
export async function forgotten(api: TestApi, accountId: string): Promise<void> {
  await until(async () => {
    await passAtOnce(api, accountId);
    const left = await api.sql('SELECT FROM sluice.deleted_accounts WHERE account_id = $1', [accountId]);
    return left.length === 0;
  }, FORGOTTEN_WITHIN_MS);
}

/** How many messages the bill of an account has, also of one that was deleted. */
export async function acceptedOf(api: TestApi, accountId: string): Promise<number> {
  const { data } = expectStatus(200, await api.ask(OPERATOR, 'GET /admin/usage?by=day&limit=100'));
  const usage = (data as { accountId: string; accepted: number }[]).filter((one) => one.accountId === accountId);
  return usage.reduce((sum, { accepted }) => sum + accepted, 0);
}
