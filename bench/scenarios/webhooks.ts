import { usablePort } from '../../apps/dev/port.js';
import type { Options } from '../options.js';
import type { BenchDatabase, BenchEnvironment } from '../parts/environment.js';
import { Program } from '../parts/program.js';
import { agree, formatFigure, formatSpread, type Check, type Table } from '../report/report.js';
import { spread } from '../report/stats.js';
import { idsAt, requestJson, sendAll, startHttpWorker, startSluice, waitUntilFinal } from '../targets/sluice.js';
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
    formatSpread(
      spread(
        of(endpoints).map(
          ({ round, perSecond }) => perSecond / (of(to).find((sample) => sample.round === round)?.perSecond ?? NaN),
        ),
      ),
    );
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
  const port = String((await usablePort(0, '127.0.0.1')) ?? 0);
  const receiver = await Program.start('bench/targets/receiver.js', { PORT: port }, bench.log('receiver'));
  const url = `http://127.0.0.1:${port}/messages`;
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
