import type { CallOptions, ListOptions, Transport } from './transport.js';
import type { Time } from './types.js';

/** Which periods of a history. */
export interface UsageHistoryOptions extends ListOptions {
  /** The length of the periods, which begin and end in UTC: days by default. */
  readonly by?: 'hour' | 'day' | undefined;
  /** Only periods that start at this time or later. */
  readonly since?: Time | undefined;
  /** Only periods that start before this time. */
  readonly until?: Time | undefined;
}

export function historyQuery({ by, since, until, limit, cursor }: UsageHistoryOptions) {
  return { by, since: textOf(since), until: textOf(until), limit, cursor };
}

/** The lines of all pages of a history as CSV, page by page, the first one with the names of the columns. */
export async function* csvOf(
  transport: Transport,
  path: string,
  { signal, ...options }: UsageHistoryOptions,
): AsyncGenerator<string, void, undefined> {
  const call = { headers: { accept: 'text/csv' }, signal } satisfies CallOptions & { headers: object };
  let { cursor } = options;
  for (let isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
    const query = historyQuery({ ...options, cursor });
    const page = await transport.send('GET', path, { ...call, query }, async (response) => ({
      text: await response.text(),
      link: response.headers.get('link'),
    }));
    cursor = /[?&]cursor=([\w-]+)/.exec(page.link ?? '')?.[1];
    yield isFirst ? page.text : page.text.slice(page.text.indexOf('\n') + 1);
  }
}

function textOf(time: Time | undefined): string | undefined {
  return time instanceof Date ? time.toISOString() : time;
}
