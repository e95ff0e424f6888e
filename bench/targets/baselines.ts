import { freePort } from '../../apps/dev/port.js';
import { openQueue } from '../baselines/ordinary/queue.js';
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

export const ordinaryStack: Target = {
  name: 'the ordinary stack',
  start: async (bench) => {
    const port = await freePort();
    const store = await bench.database(null, 'template0');
    const redisUrl = (await bench.redis?.database()) ?? '';
    const env = {
      PORT: String(port),
      DATABASE_URL: store.url,
      REDIS_URL: redisUrl,
      API_KEY: 'a-key-of-the-ordinary-stack',
    };
    const server = await Program.start('bench/baselines/ordinary/main.js', env, bench.log('ordinary'));
    let all = 0;
    return {
      url: `http://127.0.0.1:${port}`,
      keys: [env.API_KEY],
      server,
      watched: {
        node: server.pid,
        PostgreSQL: bench.postgresPid,
        ...(bench.redis && { Redis: bench.redis.pid }),
      },
      store,
      check: async (accepted) => {
        const queue = await openQueue(redisUrl, store.url);
        const { waiting: jobs = NaN } = await queue.getJobCounts('waiting');
        await queue.close();
        return [
          agree('the ordinary stack', {
            '202s': (all += accepted),
            rows: await store.number('SELECT count(*) FROM public.messages'),
            jobs,
          }),
        ];
      },
      stop: async () => {
        await server.stop();
        await store.drop();
      },
    };
  },
};
