import { setTimeout as sleep } from 'node:timers/promises';
import type { Options } from '../options.js';
import type { BenchDatabase, BenchEnvironment } from '../parts/environment.js';
import { agree, formatFigure, formatSpread, type Check, type Table } from '../report/report.js';
import { ratios, spread } from '../report/stats.js';
import { requestJson, sendAll, signUp, startHttpWorker, startSluice, TEXT, waitUntilFinal } from '../targets/sluice.js';
import { idsAt, startReceiver } from '../targets/receiving.js';
import { rotate } from './rotate.js';

const SETTINGS = { SECRETS_KEY: '42'.repeat(32), WEBHOOK_ALLOW_PRIVATE: 'true' };

const HANDLER = 'the handler that posts to a URL';
const nameOf = (endpoints: number) => `webhooks to ${endpoints} ${endpoints === 1 ? 'endpoint' : 'endpoints'}`;
/** How the messages are posted: 0 endpoints for the handler. */
const WAYS = [0, 1, 10];

/** How fast the worker posts queued messages: to the endpoints of an account, and by the included handler. */
export async function measureWebhooks(bench: BenchEnvironment, options: Options, checks: Check[]): Promise<Table> {
  const messages = Math.ceil((options.messages[0] ?? 0) / 4);
  const samples: { readonly endpoints: number; readonly round: number; readonly perSecond: number }[] = [];
  for (let round = 1; round <= options.rounds; round++) {
    for (const endpoints of rotate(WAYS, round)) {
      const perSecond = await measure(bench, messages, endpoints, checks);
      const name = endpoints === 0 ? HANDLER : nameOf(endpoints);
      process.stdout.write(`round ${round}, ${name}: ${formatFigure(perSecond)} requests/s\n`);
      samples.push({ endpoints, round, perSecond });
    }
  }
  const of = (endpoints: number) => samples.filter((sample) => sample.endpoints === endpoints);
  const ratio = (endpoints: number, to: number) =>
    formatSpread(spread(ratios(of(endpoints), of(to), ({ perSecond }) => perSecond)));
  return {
    title: `${messages.toLocaleString('en')} queued messages that one worker posts to a receiver on the same machine`,
    columns: ['', 'requests/s'],
    rows: WAYS.map((endpoints) => [
      endpoints === 0 ? HANDLER : nameOf(endpoints),
      formatSpread(spread(of(endpoints).map(({ perSecond }) => perSecond))),
    ]),
    notes: [
      `To one endpoint, webhooks make ${ratio(1, 0)} of the requests that the handler makes, round by round.`,
      `To ten endpoints, they make ${ratio(10, 1)} of the requests that they make to one.`,
    ],
  };
}

async function measure(bench: BenchEnvironment, messages: number, endpoints: number, checks: Check[]): Promise<number> {
  const store = await bench.database();
  const { receiver, url: origin } = await startReceiver(bench);
  const url = `${origin}/messages`;
  const serving = await startSluice(bench, store, SETTINGS);
  const [key = ''] = serving.keys;
  if (endpoints > 0) await requestJson(serving.url, 'PATCH', '/account', key, { delivery: 'webhooks' });
  for (let n = 0; n < endpoints; n++) {
    await requestJson(serving.url, 'POST', '/endpoints', key, { url: `${url}?endpoint=${n}` });
  }
  await sendAll(serving, messages);
  await serving.stop();
  const worker = await startHttpWorker(bench, store, url, SETTINGS);
  await Promise.race([waitUntilFinal(store), worker.died()]);
  const seconds = await secondsOf(store);
  const requests = messages * Math.max(1, endpoints);
  checks.push(
    agree(endpoints === 0 ? HANDLER : nameOf(endpoints), {
      requests,
      attempts: await store.number("SELECT count(*) FROM sluice.attempts WHERE outcome = 'delivered'"),
      'ids at the receiver': await idsAt(receiver),
    }),
  );
  await Promise.all([worker.stop(), receiver.stop()]);
  await store.drop();
  return requests / seconds;
}

/** From the start of the first attempt to the last status change, by the clock of the database. */
function secondsOf(store: BenchDatabase): Promise<number> {
  return store.number(`
    SELECT extract(epoch FROM (SELECT max(updated_at) FROM sluice.messages) - min(started_at))::float8
    FROM sluice.attempts`);
}

/** Messages that are due for an endpoint that never answers, and messages of another account. */
const DUE = 100_000;
const NEIGHBOURS_PER_SECOND = 50;
/** Before: processes that have just started are slower. */
const NEIGHBOURS_BEFORE = 150;

/** How long the messages of an account take while another account has an endpoint that is dead, and while none has. */
export async function measureNeighbour(bench: BenchEnvironment, options: Options, checks: Check[]): Promise<Table> {
  const due = Math.min(options.backlog, DUE);
  const samples: { readonly due: number; readonly round: number; readonly p50: number; readonly p99: number }[] = [];
  for (let round = 1; round <= options.rounds; round++) {
    for (const count of rotate([0, due], round)) {
      const sample = { due: count, round, ...(await measureBeside(bench, options, count, checks)) };
      process.stdout.write(`round ${round}, ${count} due for a dead endpoint: p99 ${formatFigure(sample.p99)} ms\n`);
      samples.push(sample);
    }
  }
  const of = (count: number) => samples.filter((sample) => sample.due === count);
  const beside = spread(ratios(of(due), of(0), ({ p99 }) => p99));
  return {
    title: `${NEIGHBOURS_PER_SECOND} messages a second of an account with one endpoint, from their acceptance until they are delivered`,
    columns: ['messages due for a dead endpoint of another account', 'p50, ms', 'p99, ms'],
    rows: [0, due].map((count) => [
      count.toLocaleString('en'),
      formatSpread(spread(of(count).map(({ p50 }) => p50))),
      formatSpread(spread(of(count).map(({ p99 }) => p99))),
    ]),
    notes: [`Beside the dead endpoint, the p99 is ${formatSpread(beside)} times as high, round by round.`],
  };
}

async function measureBeside(bench: BenchEnvironment, { seconds, smoke }: Options, due: number, checks: Check[]) {
  const store = await bench.database();
  const { receiver, url: origin } = await startReceiver(bench);
  const serving = await startSluice(bench, store, SETTINGS);
  const [dead = ''] = serving.keys;
  const neighbour = await signUp(serving.url);
  for (const [key, path] of [
    [dead, '/silent'],
    [neighbour, '/neighbour'],
  ] as const) {
    await requestJson(serving.url, 'PATCH', '/account', key, { delivery: 'webhooks' });
    await requestJson(serving.url, 'POST', '/endpoints', key, { url: origin + path });
  }
  await sendAll(serving, due);
  const worker = await startHttpWorker(bench, store, `${origin}/handler`, SETTINGS);
  const count = Math.ceil(seconds * NEIGHBOURS_PER_SECOND);
  const sent: Promise<unknown>[] = [];
  const before = smoke ? 0 : NEIGHBOURS_BEFORE;
  for (let n = 0; n < count + before; n++) {
    sent.push(requestJson(serving.url, 'POST', '/messages', neighbour, { message: TEXT }));
    await sleep(1_000 / NEIGHBOURS_PER_SECOND);
  }
  await Promise.all(sent);
  const account = `account_id = (SELECT account_id FROM sluice.endpoints WHERE url LIKE '%/neighbour')`;
  while (
    (await store.rows(`SELECT FROM sluice.messages WHERE ${account} AND status <> 'delivered' LIMIT 1`)).length > 0
  )
    await sleep(50);
  const percentile = (share: number) =>
    store.number(`
      SELECT percentile_disc(${share}) WITHIN GROUP (ORDER BY extract(epoch FROM updated_at - created_at) * 1000)::float8
      FROM (SELECT * FROM sluice.messages WHERE ${account} ORDER BY id DESC LIMIT ${count}) measured`);
  const sample = { p50: await percentile(0.5), p99: await percentile(0.99) };
  const delivered = await store.number(
    `SELECT count(*) FROM sluice.messages WHERE ${account} AND status = 'delivered'`,
  );
  checks.push(agree('beside a dead endpoint', { sent: sent.length, delivered }));
  await Promise.all([serving.stop(), worker.stop(), receiver.stop()]);
  await store.drop();
  return sample;
}
