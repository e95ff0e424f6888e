import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { requireUsableRedis } from '#platform/redis/usable-redis.js';
import { readSettings } from '../../apps/settings.js';
import { ROOT } from '../support/processes.js';
import { NO_REDIS, serversAt, TestRedis } from '../support/redis.js';
import { describeUnless } from '../support/skipping.js';

interface Service {
  readonly environment: Readonly<Record<string, string | number>>;
  readonly deploy?: { readonly replicas: number };
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly mem_limit: string;
  readonly stop_grace_period: string;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly command?: readonly string[];
  readonly profiles?: readonly string[];
}

interface Compose {
  readonly services: Readonly<Record<'api' | 'worker' | 'postgres' | 'redis', Service>>;
  readonly volumes: object;
}

const text = readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8');

/** The file as Compose reads it without any variable. */
const compose = parse(text.replace(/\$\{\w+:-([^}]*)\}/g, '$1'), { merge: true }) as Compose;
const { api, postgres, redis } = compose.services;

describe('docker-compose.yml', () => {
  it('requires no variable', () => {
    expect(text.replace(/^#.*$/gm, '').replace(/\$\{\w+:-[^}]*\}/g, '')).not.toMatch(/\$/);
  });

  it.each(['api', 'worker'] as const)('gives the %s minimal rights, valid settings, and time to stop', (name) => {
    const service = compose.services[name];
    expect(service).toMatchObject({
      ...{ image: 'sluice', build: '.', init: true, read_only: true, tmpfs: ['/tmp'], cap_drop: ['ALL'] },
      ...{ security_opt: ['no-new-privileges:true'], restart: 'unless-stopped' },
      ...{ depends_on: { postgres: { condition: 'service_healthy' } }, env_file: [{ path: '.env', required: false }] },
    });
    expect(service).not.toHaveProperty('privileged');
    const heap = Number(/--max-old-space-size=(\d+)/.exec(String(service.environment.NODE_OPTIONS))?.[1]);
    // The rest is for the young generation, buffers and Node.js itself.
    expect(Number.parseInt(service.mem_limit)).toBeGreaterThanOrEqual(2 * heap);
    const environment = Object.entries(service.environment).map(([key, value]) => [key, String(value)] as const);
    const settings = readSettings({
      ...Object.fromEntries(environment),
      API_KEY_PEPPER: 'a pepper of 32 characters or more',
    });
    const [, seconds = ''] = /^(\d+)s$/.exec(service.stop_grace_period) ?? [];
    expect(Number(seconds) * 1_000).toBeGreaterThan(settings.shutdownGraceMs + 5_000);
    const { hostname, username, password, pathname } = new URL(settings.database.url);
    expect({ hostname, username, password, database: pathname.slice(1) }).toEqual({
      ...{ hostname: 'postgres', username: postgres.environment.POSTGRES_USER },
      ...{ password: postgres.environment.POSTGRES_PASSWORD, database: postgres.environment.POSTGRES_DB },
    });
  });

  it('has with the recipe of the documentation all secrets that the processes need', () => {
    const page = readFileSync(join(ROOT, 'docs/deploy.md'), 'utf8');
    const [recipe = ''] = /^for name in [^]*?^done$/m.exec(page) ?? [];
    const folder = mkdtempSync(join(tmpdir(), 'sluice-compose-'));
    try {
      expect(spawnSync('bash', ['-c', recipe], { cwd: folder }).status).toBe(0);
      const lines = readFileSync(join(folder, '.env'), 'utf8').trim().split('\n');
      const secrets = Object.fromEntries(lines.map((line) => line.split('='))) as Record<string, string>;
      const environment = Object.entries(api.environment).map(([key, value]) => [key, String(value)] as const);
      const settings = readSettings({ ...Object.fromEntries(environment), ...secrets });
      expect([settings.operatorKeys.length, settings.secretsKeys.length]).toEqual([1, 1]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('publishes a port for each API, on the loopback address only', () => {
    const published = Object.values(compose.services).flatMap(({ ports = [] }) => ports);
    expect(published.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([]);
    const [, first, last, inside] = /^127\.0\.0\.1:(\d+)-(\d+):(\d+)$/.exec(api.ports?.[0] ?? '') ?? [];
    expect(Number(last) - Number(first) + 1).toBe(api.deploy?.replicas);
    expect(Number(inside)).toBe(api.environment.PORT);
    expect(api.environment.SIGNUP).toBe('open');
  });

  it('checks the health of PostgreSQL and keeps its data', () => {
    expect(postgres.healthcheck).toBeDefined();
    const volumes = postgres.volumes?.map((volume) => volume.split(':')[0]);
    expect(volumes).toEqual(Object.keys(compose.volumes));
  });
});

describeUnless(NO_REDIS)('The Redis of docker-compose.yml', () => {
  const [, proposed = ''] = /^ +# +REDIS_URL=(\S+)$/m.exec(text) ?? [];
  let server: TestRedis;
  beforeAll(async () => {
    server = await TestRedis.start(...(redis.command ?? []).slice(1));
  });
  afterAll(() => server.stop());

  it('runs in its profile only, and has the password of the proposed URL', async () => {
    expect(redis).toMatchObject({ profiles: ['redis'], restart: 'unless-stopped' });
    expect(redis).not.toHaveProperty('ports');
    const url = new URL(proposed);
    expect(url.hostname).toBe('redis');
    const { port } = new URL(server.url);
    await requireUsableRedis(serversAt([`redis://:${url.password}@127.0.0.1:${port}`], 'standalone'));
  });

  it('keeps all jobs, in less memory than its container has', async () => {
    const config = (name: string) => server.run((client) => client.config('GET', name));
    expect(await config('maxmemory-policy')).toEqual(['maxmemory-policy', 'noeviction']);
    const [, bytes] = (await config('maxmemory')) as string[];
    expect(Number(bytes) / 2 ** 20).toBeLessThanOrEqual(0.8 * Number.parseInt(redis.mem_limit));
    expect(Number(bytes)).toBeGreaterThan(0);
  });

  it('is healthy only when it responds to a client with the password', () => {
    const [form, program = '', ...args] = redis.healthcheck?.test ?? [];
    expect(form).toBe('CMD');
    const check = (env: object) =>
      spawnSync(program, ['-p', new URL(server.url).port, ...args], { env: { PATH: process.env.PATH, ...env } }).status;
    expect(check(redis.environment)).toBe(0);
    expect(check({})).not.toBe(0);
  });
});
