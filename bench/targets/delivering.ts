import type { Watched } from '../load/run-load.js';
import type { BenchEnvironment } from '../parts/environment.js';
import { Program } from '../parts/program.js';
import { agree, type Check } from '../report/report.js';
import { ordinaryStack } from './baselines.js';
import { idsAt, startReceiver, waitForIds } from './receiving.js';
import type { Rival } from './rival.js';
import {
  newStore,
  sluiceOnRedis,
  startHttpWorker,
  startSluice,
  waitUntilFinal,
  waitUntilNone,
  type SluiceServing,
} from './sluice.js';
import type { Serving, Target } from './target.js';

/** A system that accepts messages over HTTP and posts each of them to a receiver. */
export interface Delivering {
  readonly name: string;
  readonly serving: Pick<Serving, 'url' | 'keys' | 'server'>;
  readonly pids: Watched;
  readonly receiver: Program;
  /** How a message is sent, if not as to Sluice. */
  readonly request?: Pick<Rival, 'path' | 'body' | 'status'>;
  /** Waits until everything is delivered and compares the counts. @param accepted requests that were accepted since the last check */
  check(accepted: number): Promise<Check>;
  stop(): Promise<void>;
}

export interface DeliveringSluice extends Delivering {
  readonly serving: SluiceServing;
}

/** API, worker and a receiver. */
export const deliveringSluice = (target: Target) => ({
  name: target.name,
  start: async (bench: BenchEnvironment): Promise<DeliveringSluice> => {
    const store = await newStore(bench, target === sluiceOnRedis);
    const { receiver, url } = await startReceiver(bench);
    const [serving, worker] = await Promise.all([
      startSluice(bench, store),
      startHttpWorker(bench, store, `${url}/messages`),
    ]);
    let all = 0;
    return {
      name: target.name,
      serving,
      receiver,
      pids: { API: serving.server.pid, worker: worker.pid, ...bench.servers(store), receiver: receiver.pid },
      check: async (accepted) => {
        await Promise.race([waitUntilFinal(store), worker.died()]);
        return agree(target.name, {
          '202s': (all += accepted),
          rows: await store.number('SELECT count(*) FROM sluice.messages'),
          attempts: await store.number("SELECT count(*) FROM sluice.attempts WHERE outcome = 'delivered'"),
          'ids at the receiver': await idsAt(receiver),
        });
      },
      stop: async () => {
        await Promise.all([worker.stop(), serving.stop(), receiver.stop()]);
        await store.drop();
      },
    };
  },
});

export const deliveringOrdinaryStack = {
  name: ordinaryStack.name,
  start: async (bench: BenchEnvironment): Promise<Delivering> => {
    const { receiver, url } = await startReceiver(bench);
    const { store, env, ...serving } = await ordinaryStack.start(bench);
    const worker = await Program.start(
      'bench/baselines/ordinary/worker.js',
      { ...env, RECEIVER_URL: `${url}/messages` },
      bench.log('ordinary-worker'),
    );
    let all = 0;
    return {
      name: ordinaryStack.name,
      serving,
      receiver,
      pids: { API: serving.server.pid, worker: worker.pid, ...bench.servers(store), receiver: receiver.pid },
      check: async (accepted) => {
        await Promise.race([waitForIds(receiver, (all += accepted)), worker.died()]);
        await waitUntilNone(store, "SELECT FROM public.messages WHERE status <> 'delivered' LIMIT 1");
        return agree(ordinaryStack.name, {
          '202s': all,
          rows: await store.number('SELECT count(*) FROM public.messages'),
          'ids at the receiver': await idsAt(receiver),
        });
      },
      stop: async () => {
        await Promise.all([worker.stop(), receiver.stop()]);
        await serving.stop();
      },
    };
  },
};

/** A system that runs already, and posts to a receiver on this port. */
export const deliveringRival = (rival: Rival, port: number) => ({
  name: rival.name,
  start: async (bench: BenchEnvironment): Promise<Delivering> => {
    const { receiver } = await startReceiver(bench, port, rival.idHeader);
    let all = 0;
    return {
      name: rival.name,
      // The receiver stands in for its server, which is no process of the benchmark.
      serving: { url: rival.origin, keys: rival.key === undefined ? [] : [rival.key], server: receiver },
      receiver,
      request: rival,
      pids: { ...rival.processes, receiver: receiver.pid },
      check: async (accepted) => {
        await waitForIds(receiver, (all += accepted));
        return agree(rival.name, { accepted: all, 'ids at the receiver': await idsAt(receiver) });
      },
      stop: () => receiver.stop(),
    };
  },
});
