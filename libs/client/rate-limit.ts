/** One window in which requests are counted. */
export interface RateLimitWindow {
  /** `minute` or `day`; other names where the server counts other things. */
  readonly name: string;
  /** Requests in a window. */
  readonly limit: number;
  readonly remaining: number;
  /** When all of them are available again. */
  readonly resetsAt: Date;
}

/** How many requests remain, as the last response said. The first three describe the tightest window. */
export interface RateLimit {
  readonly limit: number;
  readonly remaining: number;
  readonly resetsAt: Date;
  readonly windows: readonly RateLimitWindow[];
}

/** Reads `X-RateLimit-*`, `RateLimit-Policy` and `RateLimit`; null if they are not there. */
export function readRateLimit(headers: Headers): RateLimit | null {
  const number = (name: string) => Number(headers.get(`x-ratelimit-${name}`) ?? NaN);
  const limit = number('limit');
  const remaining = number('remaining');
  const resetsAt = new Date(number('reset') * 1_000);
  if (!Number.isFinite(limit + remaining + resetsAt.getTime())) return null;
  const now = Date.now();
  const limits = new Map(itemsOf(headers.get('ratelimit-policy')).map(({ name, q }) => [name, q]));
  const windows = itemsOf(headers.get('ratelimit')).map(({ name, r = 0, t = 0 }) => {
    return { name, limit: limits.get(name) ?? r, remaining: r, resetsAt: new Date(now + t * 1_000) };
  });
  // A gateway may write times that no date has.
  return { limit, remaining, resetsAt, windows: windows.filter((one) => one.resetsAt.getTime()) };
}

/** The items of a structured field such as `"minute";r=59;t=42, "day";r=812;t=30211`. */
function itemsOf(field: string | null): { name: string; q?: number; r?: number; t?: number }[] {
  return [...(field ?? '').matchAll(/"([^"]*)"((?:;\w+=\d+)*)/g)].map(([, name = '', parameters = '']) => {
    const pairs = [...parameters.matchAll(/(\w+)=(\d+)/g)].map(([, key = '', value]) => [key, Number(value)] as const);
    return { name, ...Object.fromEntries(pairs) };
  });
}
