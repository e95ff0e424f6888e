import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { readSettings } from '#platform/settings.js';
import { ROOT } from '../support/processes.js';

interface Service {
  readonly image: string;
  readonly build?: string;
  readonly command?: readonly string[];
  readonly environment: Readonly<Record<string, string | number>>;
  readonly env_file?: readonly { readonly path: string; readonly required: boolean }[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly deploy?: { readonly replicas: number };
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly stop_grace_period: string;
  readonly healthcheck?: object;
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: object;
}

const text = readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8');

/** What Compose makes of the file where no variable is set. */
const compose = parse(text.replace(/\$\{\w+:-([^}]*)\}/g, '$1'), { merge: true }) as Compose;
const { api, worker, postgres } = compose.services as Record<'api' | 'worker' | 'postgres', Service>;

function environmentOf(service: Service): Record<string, string> {
  return Object.fromEntries(Object.entries(service.environment).map(([name, value]) => [name, String(value)]));
}

describe('docker-compose.yml', () => {
  it('needs no variable, so that PostgreSQL can be started by itself', () => {
    expect(text.replace(/^#.*$/gm, '').replace(/\$\{\w+:-[^}]*\}/g, '')).not.toMatch(/\$/);
    expect([api, worker].map((service) => service.env_file)).toEqual(
      Array(2).fill([{ path: '.env', required: false }]),
    );
  });

  it.each([
    ['api', api],
    ['worker', worker],
  ] as const)('gives the %s no right that it does not need', (_name, service) => {
    expect(service).toMatchObject({
      ...{ image: 'sluice', build: '.', init: true, read_only: true, tmpfs: ['/tmp'], cap_drop: ['ALL'] },
      ...{ security_opt: ['no-new-privileges:true'], restart: 'unless-stopped' },
      depends_on: { postgres: { condition: 'service_healthy' } },
    });
    expect(Object.keys(service)).not.toEqual(expect.arrayContaining(['privileged']));
  });

  it.each([
    ['api', api],
    ['worker', worker],
  ] as const)('gives the %s settings that it can start with, and time to stop', (_name, service) => {
    const settings = readSettings({ ...environmentOf(service), API_KEY_PEPPER: 'a pepper of 32 characters or more' });
    const [, seconds = ''] = /^(\d+)s$/.exec(service.stop_grace_period) ?? [];
    expect(Number(seconds) * 1_000).toBeGreaterThan(settings.shutdownGraceMs + 5_000);
    const { hostname, username, password, pathname } = new URL(settings.database.url);
    expect({ hostname, username, password, database: pathname.slice(1) }).toEqual({
      ...{ hostname: 'postgres', username: postgres.environment.POSTGRES_USER },
      ...{ password: postgres.environment.POSTGRES_PASSWORD, database: postgres.environment.POSTGRES_DB },
    });
  });

  it('publishes a port for each API, for this machine only', () => {
    const published = Object.values(compose.services).flatMap(({ ports = [] }) => ports);
    expect(published.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([]);
    const [, first, last, inside] = /^127\.0\.0\.1:(\d+)-(\d+):(\d+)$/.exec(api.ports?.[0] ?? '') ?? [];
    expect(Number(last) - Number(first) + 1).toBe(api.deploy?.replicas);
    expect(Number(inside)).toBe(api.environment.PORT);
  });

  it('waits for PostgreSQL, and keeps its data', () => {
    expect(postgres.healthcheck).toBeDefined();
    const volumes = postgres.volumes?.map((volume) => volume.split(':')[0]);
    expect(volumes).toEqual(Object.keys(compose.volumes));
  });
});
