import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Database } from '#platform/database/database.js';
import { startErrorMessage } from '#platform/process/process.js';
import { requireUsableDatabase } from '#platform/database/usable-database.js';
import { EmbeddedPostgres } from '../../apps/dev/embedded-postgres/embedded-postgres.js';
import { asOwner } from '../support/roles.js';

describe('A standby', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-standby-'));
  const options = { dataDir: join(folder, 'data'), database: 'sluice', settings: { fsync: 'off' } };
  let postgres: EmbeddedPostgres;
  beforeAll(async () => {
    chmodSync(folder, 0o755);
    postgres = await EmbeddedPostgres.start(options);
    await postgres.stop();
    writeFileSync(join(options.dataDir, 'standby.signal'), '');
    postgres = await EmbeddedPostgres.start(options);
  });
  afterAll(async () => {
    await postgres.stop();
    rmSync(folder, { recursive: true });
  });

  it('is refused with the true reason, after a wait for its promotion', async () => {
    const error: unknown = await requireUsableDatabase(postgres.url).catch((reason: unknown) => reason);
    expect(startErrorMessage(error)).toBe(
      'The database at DATABASE_URL is in recovery, as a standby is: it accepts no writes.',
    );
  });

  it('is used as soon as it is the primary', async () => {
    const starting = requireUsableDatabase(postgres.url);
    await asOwner(postgres.url, 'SELECT pg_promote()');
    await starting;
    const pool = await Database.connect({
      ...{ url: postgres.url, poolSize: 1, applicationName: 'spec', onError: () => undefined },
    });
    expect(await pool.query('CREATE TABLE public.things (n int)')).toEqual([]);
    await pool.close();
  });
});
