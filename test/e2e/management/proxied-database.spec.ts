import { requireUsableDatabase } from '#platform/database/usable-database.js';
import { UsageError } from '#platform/process/usage-error.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { Link } from '../../support/link.js';
import { Program } from '../../support/processes.js';
import { framed } from '../../support/strange-servers.js';

const OPTION = '-c sluice.options=passed';
const withoutOptions = (sent: string) => sent.replace(OPTION, ' '.repeat(OPTION.length));
const withoutListen = (sent: string) => sent.replace('LISTEN ', '--LSTN ');

/** An error of PostgreSQL: severity, code and message. */
function errorResponse(message: string): Buffer {
  return framed('E', `SFATAL\0VFATAL\0C08P01\0M${message}\0\0`);
}

describe('A connection to the database', () => {
  let database: TestDatabase;
  let link: Link;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  beforeEach(() => {
    link = new Link();
  });
  afterEach(() => link.cut());
  afterAll(() => database.drop());

  it('may be direct, or through a proxy that changes nothing', async () => {
    await requireUsableDatabase(database.url);
    await requireUsableDatabase(await link.open(database.url));
  });

  it.each([
    ['drops its options', { rewrite: withoutOptions }],
    ['rejects its options', { rejection: errorResponse('unsupported startup parameter in options: sluice.options') }],
    ['does not let it listen', { rewrite: withoutListen }],
  ])('must not be through a proxy that %s', async (_what, change) => {
    const error: unknown = await requireUsableDatabase(await Object.assign(link, change).open(database.url)).catch(
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(UsageError);
    expect(String(error)).toMatch(
      /^UsageError: DATABASE_URL leads to a proxy that .*: connect to PostgreSQL directly\.$/,
    );
  });

  it('must not be to a database that cannot store every text', async () => {
    const latin = await createTestDatabase(`template0 ENCODING 'LATIN1' LOCALE_PROVIDER libc LOCALE 'C'`);
    const checking = requireUsableDatabase(latin.url);
    await expect(checking).rejects.toThrow(/ has the encoding LATIN1, .*: create one with ENCODING 'UTF8'\.$/);
    await latin.drop();
  });

  it('keeps a process from starting otherwise, with one sentence', async () => {
    const url = await Object.assign(link, { rewrite: withoutListen }).open(database.url);
    const api = Program.run('dist/apps/api/main.js', { DATABASE_URL: url, API_KEY_PEPPER: 'p'.repeat(32), PORT: '0' });
    expect(await api.ended()).toBe(1);
    expect(api.output).toMatch(/^api: DATABASE_URL leads to a proxy [^\n]*\n$/);
  });
});
