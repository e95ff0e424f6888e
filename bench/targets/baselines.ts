import { freePort } from '../../apps/dev/port.js';
import type { BenchEnvironment } from '../parts/environment.js';
import { Program } from '../parts/program.js';
import { agree } from '../report/report.js';
import type { Target } from './target.js';

export const bareFastify = bare('bare Fastify', 'bench/baselines/bare-fastify.js');
export const bareTogether = bare('bare Fastify, replies of a tick together', 'bench/baselines/bare-together.js');

function bare(name: string, script: string): Target {
  return {
    name,
    start: async (bench) => {
      const port = await freePort();
      const server = await Program.start(script, { PORT: String(port) }, bench.log('bare'));
      return {
        url: `http://127.0.0.1:${port}`,
        keys: [],
        server,
        watched: { node: server.pid },
        store: null,
        check: () => Promise.resolve([]),
        stop: () => server.stop(),
      };
    },
  };
}

export const bareInsert: Target = {
  name: 'bare Fastify that inserts the row',
  start: async (bench) => {
    const port = await freePort();
    const store = await bench.database();
    const env = { PORT: String(port), DATABASE_URL: store.url, ACCOUNT_ID: 'acct_00000000000000000000000000' };
    const server = await Program.start('bench/baselines/bare-insert.js', env, bench.log('bare-insert'));
    let all = 0;
    return {
      url: `http://127.0.0.1:${port}`,
      keys: [],
      server,
      watched: { node: server.pid, PostgreSQL: bench.postgresPid },
      store,
      check: async (accepted) => [
        agree('bare insert', {
          '202s': (all += accepted),
          rows: await store.number('SELECT count(*) FROM sluice.messages'),
        }),
      ],
      stop: async () => {
        await server.stop();
        await store.drop();
      },
    };
  },
};

export const ordinaryStack = {
  name: 'the ordinary stack',
  start: async (bench: BenchEnvironment) => {
    const port = await freePort();
    const store = await bench.database((await bench.redis?.database()) ?? null, 'template0');
    const env = { DATABASE_URL: store.url, REDIS_URL: store.redisUrl ?? '' };
    const key = 'a-key-of-the-ordinary-stack';
    const server = await Program.start(
      'bench/baselines/ordinary/main.js',
      { ...env, PORT: String(port), API_KEY: key },
      bench.log('ordinary'),
    );
    let all = 0;
    return {
      url: `http://127.0.0.1:${port}`,
      keys: [key],
      server,
      watched: { node: server.pid, ...bench.servers(store) },
      store,
      env,
      check: async (accepted: number) => [
        agree('the ordinary stack', {
          '202s': (all += accepted),
          rows: await store.number('SELECT count(*) FROM public.messages'),
          jobs: await store.jobs(),
        }),
      ],
      stop: async () => {
        await server.stop();
        await store.drop();
      },
    };
  },
} satisfies Target;
