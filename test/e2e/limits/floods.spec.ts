import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpResponse } from '../../support/http.js';
import { anotherKey, BANNED, offender, REFUSED, tally } from '../../support/limits.js';
import { joinedApi, ownApi, type Account, type TestApi } from '../../support/api.js';
import { until } from '../../support/processes.js';

const SECONDS = 2;
/** Even where a machine is busy for all of these seconds. */
const MIN_REQUESTS = 200;

/** Hundreds of requests a second from 8 clients, each one after the other, for a while. */
async function flood(apis: readonly TestApi[], holders: readonly Account[]): Promise<HttpResponse[]> {
  const responses: HttpResponse[] = [];
  const end = performance.now() + SECONDS * 1_000;
  const client = async (index: number) => {
    const [holder, api] = [holders[index % holders.length], apis[index % apis.length]];
    while (holder && api && (performance.now() < end || responses.length < MIN_REQUESTS)) {
      responses.push(await api.ask(holder));
      await sleep(10);
    }
  };
  await Promise.all(Array.from({ length: 8 }, (_, index) => client(index)));
  return responses;
}

describe('a flood of refusals through two APIs', () => {
  const api = ownApi({ BAN_GRACE_SECONDS: '0', BAN_AFTER_REFUSALS: '1000000' });

  const apis = [api, joinedApi(api)];
  beforeAll(async () => {
    await api.sql('CREATE SEQUENCE sluice.calls');
    const [row] = await api.sql<{ text: string }>(`SELECT pg_get_functiondef('sluice.take_hits'::regproc) AS text`);
    await api.sql(row?.text.replace(/\bBEGIN\b/, "BEGIN PERFORM nextval('sluice.calls');") ?? '');
  });

  /** How often the limiter called the database during the work. */
  const calls = async (work: () => Promise<unknown>) => {
    const sofar = async () => Number((await api.sql(`SELECT nextval('sluice.calls')`))[0]?.nextval);
    const before = await sofar();
    await work();
    return (await sofar()) - before - 1;
  };

  it.each([
    ['one key', 1, 0],
    ['three keys of an account', 3, 0],
    ['a key that is banned', 1, 1_000_000],
  ])('of %s calls the database about once a second', async (_name, keys, strikes) => {
    const first = await api.signUp('free');
    const holders = [first];
    while (holders.length < keys) holders.push(await anotherKey(api, first));
    await offender(api, strikes, first);
    let responses: HttpResponse[] = [];
    const begin = performance.now();
    const asked = await calls(async () => {
      responses = await flood(apis, holders);
    });
    // On a loaded machine the last responses, and so the calls for them, are late.
    const seconds = (performance.now() - begin) / 1_000;
    process.stdout.write(
      `${responses.length} refusals in ${seconds.toFixed(1)} s took ${asked} calls of the database\n`,
    );

    expect(tally(responses)).toEqual({ [strikes === 0 ? REFUSED : BANNED]: responses.length });
    expect(responses.length).toBeGreaterThan(3 * asked);
    // Each of the two processes queries each key once, then reports strikes and checks for the end of the ban.
    expect(asked).toBeLessThanOrEqual(2 * (2 * Math.ceil(seconds) + 2 + keys));
  });

  it('loses none of the strikes that it counts meanwhile', async () => {
    const holder = await offender(api, 0);
    const responses = await flood(apis, [holder]);
    const stored = async () => {
      const text = 'SELECT strikes FROM sluice.offences WHERE key_id = $1';
      return (await api.sql<{ strikes: number }>(text, [holder.keyId]))[0]?.strikes ?? 0;
    };
    await until(async () => (await stored()) >= responses.length);

    expect(await stored()).toBe(responses.length);
  });
});
