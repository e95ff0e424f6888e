import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { readSettings } from '#platform/settings.js';
import { ROOT } from '../support/processes.js';

interface Service {
  readonly environment: Readonly<Record<string, string | number>>;
  readonly deploy?: { readonly replicas: number };
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly mem_limit: string;
  readonly stop_grace_period: string;
  readonly healthcheck?: object;
}

interface Compose {
  readonly services: Readonly<Record<'api' | 'worker' | 'postgres', Service>>;
  readonly volumes: object;
}

const text = readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8');

/** The file as Compose reads it without any variable. */
const compose = parse(text.replace(/\$\{\w+:-([^}]*)\}/g, '$1'), { merge: true }) as Compose;
const { api, postgres } = compose.services;

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
