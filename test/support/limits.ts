import type { Account, TestApi } from './api.js';
import { HttpResponse, isLate } from './http.js';

/** The usage of an account; milliseconds that are left of its windows. */
export interface Windows {
  readonly minuteUsed?: number;
  readonly minuteLeft?: number;
  readonly dayUsed?: number;
  readonly dayLeft?: number;
}

export const REFUSED = '429 rate_limit_exceeded';
export const BANNED = '429 api_key_banned';
export const MINUTE = 60_000;
export const DAY = 86_400_000;

/** Sends requests in parallel, evenly through all APIs. Returns what a machine responds that is not busy. */
export async function burst(apis: readonly TestApi[], account: Account, count: number): Promise<HttpResponse[]> {
  const rounds = Array.from({ length: Math.ceil(count / apis.length) }, () => apis).flat();
  const responses = await Promise.all(rounds.slice(0, count).map((api) => api.ask(account)));
  // A busy machine is late for some, never for most.
  expect(responses.filter(isLate).length).toBeLessThanOrEqual(count / 2);
  return responses.map((response) => {
    if (!isLate(response)) return response;
    const { 'x-ratelimit-remaining': _unknown, ...headers } = response.headers;
    return new HttpResponse(200, headers, response.bytes);
  });
}

/** Sends requests one after the other. */
export async function series(api: TestApi, account: Account, count: number): Promise<HttpResponse[]> {
  const responses: HttpResponse[] = [];
  for (let sent = 0; sent < count; sent++) responses.push(await api.ask(account));
  return responses;
}

/** Sets the usage of an account. */
export async function setWindows(api: TestApi, { id }: Account, windows: Windows): Promise<void> {
  const { minuteUsed = 0, minuteLeft = MINUTE, dayUsed = 0, dayLeft = DAY } = windows;
  await api.sql(
    `INSERT INTO sluice.rate_limits AS r (account_id, minute_used, minute_ends_ms, day_used, day_ends_ms)
     SELECT $1, $2, now_ms + $3, $4, now_ms + $5
     FROM (SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now_ms) AS clock
     ON CONFLICT (account_id) DO UPDATE SET minute_used = excluded.minute_used, day_used = excluded.day_used,
       minute_ends_ms = excluded.minute_ends_ms, day_ends_ms = excluded.day_ends_ms`,
    [id, minuteUsed, minuteLeft, dayUsed, dayLeft],
  );
}

/** An account whose minute is used up, and whose key has sent requests since. */
export async function offender(api: TestApi, strikes: number, existing?: Account): Promise<Account> {
  const account = existing ?? (await api.signUp('free'));
  await setWindows(api, account, { minuteUsed: 60 });
  await api.sql(
    `INSERT INTO sluice.offences (key_id, account_id, refusing_window_ends_ms, strikes, strikes_end_ms)
     SELECT $2, account_id, minute_ends_ms, $3, minute_ends_ms FROM sluice.rate_limits WHERE account_id = $1`,
    [account.id, account.keyId, strikes],
  );
  return account;
}

/** Another key of the same account. */
export async function anotherKey(api: TestApi, account: Account): Promise<Account> {
  const { id, key } = await api.createKey(account);
  return { id: account.id, keyId: id, key };
}

/** The number in a header. */
export function numberIn({ headers }: HttpResponse, name: string): number {
  const value = headers[name] ?? '';
  return /^\d+$/.test(value) ? Number(value) : NaN;
}

/** What `X-RateLimit-*` contain, and in how many seconds the window resets. */
export function shown(response: HttpResponse): { limit: number; remaining: number; resetsIn: number } {
  return {
    limit: numberIn(response, 'x-ratelimit-limit'),
    remaining: numberIn(response, 'x-ratelimit-remaining'),
    resetsIn: numberIn(response, 'x-ratelimit-reset') - Date.now() / 1_000,
  };
}

/** Each number below the limit was returned as what remains by one admitted request, unless it was answered late. */
export function expectDownToZero(responses: readonly HttpResponse[], limit: number): void {
  const admitted = responses.filter(({ status }) => status < 300);
  const known = admitted.filter(({ headers }) => 'x-ratelimit-remaining' in headers);
  const remaining = new Set(known.map((response) => shown(response).remaining));
  expect(admitted).toHaveLength(limit);
  expect(remaining.size).toBe(known.length);
  for (const number of remaining) {
    expect(number).toBeGreaterThanOrEqual(0);
    expect(number).toBeLessThan(limit);
  }
}

/** The status of a response; of a problem with its code. */
export function kindOf({ status, bytes }: HttpResponse): string {
  const code = status < 400 ? undefined : /"code":"(\w+)"/.exec(bytes.toString())?.[1];
  return code === undefined ? String(status) : `${status} ${code}`;
}

/** How many responses there are of each status; of problems with their code. */
export function tally(responses: readonly HttpResponse[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const kind of responses.map(kindOf)) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}
