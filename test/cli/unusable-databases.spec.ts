import { Cli } from '../support/cli.js';
import { createTestDatabase } from '../support/database.js';
import { asOwner, dropRole, nameOf, newRole } from '../support/roles.js';
import { STRANGE, strangeServer } from '../support/strange-servers.js';

jest.setTimeout(240_000);

const NOT_MIGRATED = /^error: .* does not have the tables of this version: run sluice migrate\b.*\n$/;

interface Place {
  readonly url: string;
  remove(): Promise<unknown>;
}

/** A database with these statements run in it by its owner. */
async function database(copied?: string, ...statements: readonly string[]): Promise<Place> {
  const created = await createTestDatabase(copied);
  await asOwner(created.url, ...statements);
  return { url: created.url, remove: () => created.drop() };
}

/** A database as a new role sees it. */
async function asRole(changes: (role: string, name: string) => readonly string[], password?: string): Promise<Place> {
  const place = await database();
  const { role, url } = await newRole(place.url);
  await asOwner(place.url, ...changes(role, nameOf(place.url)));
  return {
    url: password === undefined ? url : Object.assign(new URL(url), { password }).href,
    remove: () => dropRole(place.url, role).then(() => place.remove()),
  };
}

const STRANGERS = STRANGE.map(
  ([what, sent, sentence]) => [what, () => strangeServer(sent), sentence, sentence] as const,
);

/** A test runs `sluice` on each, which must not wait for what will not change. */
const PLACES: readonly (readonly [
  what: string,
  place: () => Promise<Place>,
  census: RegExp,
  migrate: RegExp | null,
])[] = [
  ['is empty', () => database('template0'), NOT_MIGRATED, null],
  [
    'is of an older version',
    () =>
      database(
        undefined,
        "DELETE FROM sluice.migrations WHERE name = 'webhooks/0006-count-attempts'",
        'ALTER TABLE sluice.endpoint_deliveries DROP COLUMN attempts, DROP COLUMN last_number',
        'ALTER TABLE sluice.attempts DROP COLUMN of_target',
      ),
    NOT_MIGRATED,
    null,
  ],
  ['has lost the tables of BullMQ', () => database(undefined, 'DROP SCHEMA bullmq CASCADE'), NOT_MIGRATED, null],
  [
    'was not restored completely',
    () => database(undefined, 'ALTER TABLE sluice.idempotency_keys DROP CONSTRAINT idempotency_keys_pkey'),
    /is incomplete\. It lacks: unique index idempotency_keys_pkey on sluice\.idempotency_keys\./,
    /is incomplete\. It lacks: unique index idempotency_keys_pkey on sluice\.idempotency_keys\./,
  ],
  [
    'is of a newer version',
    () => database(undefined, 'UPDATE bullmq.migration SET min_client_version = 99'),
    /newer version/,
    /newer version/,
  ],
  [
    'has other tables of the same name',
    () => database('template0', 'CREATE SCHEMA sluice', 'CREATE TABLE sluice.messages (id int)'),
    NOT_MIGRATED,
    /migration messages\/0001-baseline failed and changed nothing: .* must contain nothing else/,
  ],
  ['cannot store every text', latin, /ENCODING 'UTF8'/, /ENCODING 'UTF8'/],
  [
    'grants nothing',
    () => asRole(() => []),
    /lacks rights: USAGE on schema sluice/,
    /lacks rights: USAGE on schema sluice/,
  ],
  [
    'refuses the role',
    () => asRole((role) => [`ALTER ROLE ${role} NOLOGIN`]),
    /was reached, .* not permitted to log in/,
    /was reached, .* not permitted to log in/,
  ],
  [
    'does not exist',
    () => database().then((place) => ({ ...place, url: `${place.url}_none` })),
    /does not exist/,
    /does not exist/,
  ],
  [
    'asks for another password',
    () => asRole(() => [], 'wrong'),
    /password authentication failed/,
    /password authentication failed/,
  ],
  ['asks for a password', () => asRole(() => [], ''), /asks for a password, which/, /asks for a password, which/],
  ...STRANGERS,
];

/** `template0` allows another encoding. */
async function latin(): Promise<Place> {
  const beside = await createTestDatabase('template0');
  const name = `${nameOf(beside.url)}_latin`;
  await asOwner(beside.url, `CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'`);
  return {
    url: beside.url.replace(nameOf(beside.url), name),
    remove: () => asOwner(beside.url, `DROP DATABASE ${name} WITH (FORCE)`).then(() => beside.drop()),
  };
}

describe('With a database that', () => {
  const cli = new Cli({});
  afterAll(() => {
    cli.remove();
  });

  it.each(PLACES)('%s, a command says so in one sentence and ends', async (_what, open, census, migrate) => {
    const place = await open();
    const runs = [['census', census] as const, ['migrate', migrate] as const];
    for (const [command, sentence] of runs) {
      const { code, stdout, stderr } = await cli.run([command], { env: { DATABASE_URL: place.url } });
      expect(stderr).toMatch(sentence ?? /^$/);
      expect(code).toBe(sentence === null ? 0 : 1);
      expect(stdout === '').toBe(sentence !== null);
      expect(stderr.split('\n').length).toBeLessThanOrEqual(2);
      expect(stderr).not.toMatch(/SELECT (?!on )|secret|\.js\b/);
    }
    await place.remove();
  });

  it('needs a Redis that cannot be reached, the census says so and ends', async () => {
    const place = await database();
    const env = { DATABASE_URL: place.url, REDIS_URL: 'redis://127.0.0.1:1' };
    const { code, stderr } = await cli.run(['census'], { env });
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'error: The Redis server at REDIS_URL cannot be reached: ECONNREFUSED.\n',
    });
    await place.remove();
  });
});
