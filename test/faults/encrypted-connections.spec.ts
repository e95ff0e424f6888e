import { copyFileSync, mkdtempSync, chmodSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from 'pg';
import { connectRedis } from '#platform/redis/connect-redis.js';
import { requireUsableRedis } from '#platform/redis/usable-redis.js';
import { ReliableClient } from '#platform/database/connection.js';
import { requireUsableDatabase } from '#platform/database/usable-database.js';
import { startErrorMessage } from '#platform/process/process.js';
import { EmbeddedPostgres } from '../../apps/dev/embedded-postgres/embedded-postgres.js';
import { Authority, NO_OPENSSL } from '../support/certificates.js';
import { freePort } from '../support/processes.js';
import { NO_REDIS, serversAt, TestRedis } from '../support/redis.js';
import { asOwner } from '../support/roles.js';
import { describeUnless } from '../support/skipping.js';

const folderFor = (name: string) => {
  const folder = mkdtempSync(join(tmpdir(), `sluice-${name}-`));
  chmodSync(folder, 0o755);
  return folder;
};

describeUnless(NO_OPENSSL)('A connection to PostgreSQL', () => {
  const folder = folderFor('tls');
  let own: Authority;
  let other: Authority;
  let postgres: EmbeddedPostgres;
  const certificates: Record<string, { cert: string; key: string }> = {};

  beforeAll(async () => {
    const dataDir = join(folder, 'data');
    postgres = await EmbeddedPostgres.start({ dataDir, database: 'sluice', settings: { fsync: 'off' } });
    own = new Authority();
    other = new Authority();
    const owner = join(dataDir, 'PG_VERSION');
    certificates.right = own.issue('DNS:localhost,IP:127.0.0.1', { owner });
    certificates.renamed = own.issue('DNS:elsewhere.example', { owner });
    certificates.expired = own.issue('DNS:localhost,IP:127.0.0.1', { owner, expired: true });
  });
  afterAll(async () => {
    await postgres.stop();
    for (const path of [folder, own.folder, other.folder]) rmSync(path, { recursive: true, force: true });
  });

  let presented: string | undefined;
  /** Lets the server present another certificate, or none. */
  const present = async (name: string | null) => {
    if (presented === (name ?? 'none')) return;
    const { cert, key } = certificates[name ?? 'right'] ?? { cert: '', key: '' };
    await asOwner(
      postgres.url,
      `ALTER SYSTEM SET ssl_cert_file = '${cert}'`,
      `ALTER SYSTEM SET ssl_key_file = '${key}'`,
      `ALTER SYSTEM SET ssl = ${name === null ? 'off' : 'on'}`,
      'SELECT pg_reload_conf()',
    );
    presented = name ?? 'none';
    const expected = name === null ? 'off' : 'on';
    for (;;) {
      const [row] = await asOwner<{ ssl: string; cert: string }>(
        postgres.url,
        `SELECT current_setting('ssl') AS ssl, current_setting('ssl_cert_file') AS cert`,
      );
      if (row?.ssl === expected && row.cert === cert) return;
    }
  };

  const query = (mode: string, ca?: string) =>
    new URLSearchParams({ sslmode: mode, ...(ca !== undefined && { sslrootcert: ca }) }).toString();
  const connected = async (parameters: string, url = postgres.url) => {
    const client = new ReliableClient(`${url}?${parameters}`);
    await client.connect();
    const text = 'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()';
    const { rows } = await (client as Client).query<{ ssl: boolean }>(text);
    await client.end();
    return rows[0]?.ssl === true ? 'encrypted' : 'plain';
  };
  const outcome = (parameters: string, url?: string) =>
    connected(parameters, url).catch((error: unknown) => (error as { code?: string }).code ?? String(error));

  // The certificate, the mode, whose root certificate is given, and what follows.
  it.each<[string | null, string, 'own' | 'other' | 'none', string | RegExp]>([
    ['right', 'disable', 'none', 'plain'],
    ['right', 'allow', 'none', 'plain'],
    ['right', 'prefer', 'none', 'encrypted'],
    ['right', 'require', 'none', 'encrypted'],
    ['right', 'require', 'own', 'encrypted'],
    ['right', 'require', 'other', /UNABLE_TO_VERIFY|SELF_SIGNED|CERT_SIGNATURE/],
    ['right', 'verify-ca', 'own', 'encrypted'],
    ['right', 'verify-ca', 'other', /UNABLE_TO_VERIFY|SELF_SIGNED|CERT_SIGNATURE/],
    ['right', 'verify-full', 'own', 'encrypted'],
    ['right', 'verify-full', 'none', /UNABLE_TO_VERIFY|SELF_SIGNED/],
    ['renamed', 'require', 'none', 'encrypted'],
    ['renamed', 'require', 'own', 'encrypted'],
    ['renamed', 'verify-ca', 'own', 'encrypted'],
    ['renamed', 'verify-full', 'own', 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['expired', 'require', 'none', 'encrypted'],
    ['expired', 'require', 'own', 'CERT_HAS_EXPIRED'],
    ['expired', 'verify-full', 'own', 'CERT_HAS_EXPIRED'],
    ['expired', 'prefer', 'own', 'plain'],
    [null, 'prefer', 'none', 'plain'],
    [null, 'allow', 'none', 'plain'],
    [null, 'require', 'none', /does not support SSL/],
    [null, 'verify-full', 'own', /does not support SSL/],
  ])(
    'to a server with the certificate %s, with sslmode=%s and the CA %s: %s',
    async (certificate, mode, ca, expected) => {
      await present(certificate);
      const root = { own: own.certificate, other: other.certificate, none: undefined }[ca];
      expect(await outcome(query(mode, root))).toMatch(
        expected instanceof RegExp ? expected : new RegExp(`^${expected}$`),
      );
    },
  );

  it('is encrypted from its first byte with sslnegotiation=direct', async () => {
    await present('right');
    const direct = (mode: string) => `${query(mode, own.certificate)}&sslnegotiation=direct`;
    expect(await outcome(direct('require'))).toBe('encrypted');
    expect(await outcome(direct('verify-full'))).toBe('encrypted');
    await present('renamed');
    expect(await outcome(direct('verify-full'))).toBe('ERR_TLS_CERT_ALTNAME_INVALID');
  });

  it('emits no warnings, and reports the fault at the start', async () => {
    const warnings: unknown[] = [];
    const note = (warning: unknown) => warnings.push(warning);
    process.on('warning', note);
    await present('right');
    await requireUsableDatabase(`${postgres.url}?${query('require')}`);
    const failing = requireUsableDatabase(`${postgres.url}?${query('verify-full')}`);
    const message = startErrorMessage(await failing.catch((error: unknown) => error));
    expect(message).toMatch(/^The TLS connection to the database at DATABASE_URL failed: [^\n]*sslrootcert[^\n]*\.$/);
    const missing = requireUsableDatabase(`${postgres.url}?${query('verify-full', '/nowhere.pem')}`);
    expect(startErrorMessage(await missing.catch((error: unknown) => error))).toMatch(
      /ca file in DATABASE_URL cannot be read/,
    );
    process.off('warning', note);
    expect(warnings).toEqual([]);
  });

  it('reads a root certificate anew', async () => {
    await present('right');
    const file = join(folder, 'root.pem');
    copyFileSync(other.certificate, file);
    expect(await outcome(query('verify-full', file))).toMatch(/UNABLE_TO_VERIFY|SELF_SIGNED|CERT_SIGNATURE/);
    copyFileSync(own.certificate, file);
    expect(await outcome(query('verify-full', file))).toBe('encrypted');
  });

  it('uses the first of several hosts that can be used', async () => {
    await present('right');
    const several = postgres.url.replace('@127.0.0.1:', `@127.0.0.1:1,127.0.0.1:${await freePort()},127.0.0.1:`);
    expect(await outcome(query('require'), several)).toBe('encrypted');
    await requireUsableDatabase(several);
    expect(await outcome('', postgres.url.replace(/:\d+\/sluice$/, ':1,127.0.0.1:1/sluice'))).toBe('ECONNREFUSED');
  });

  it('checks the name of the host, also if it connects to an address that the URL gives', async () => {
    await present('right');
    const named = (host: string) => postgres.url.replace('@127.0.0.1:', `@${host}:`);
    const parameters = `${query('verify-full', own.certificate)}&hostaddr=127.0.0.1`;
    expect(await outcome(parameters, named('localhost'))).toBe('encrypted');
    expect(await outcome(parameters, named('elsewhere.example'))).toBe('ERR_TLS_CERT_ALTNAME_INVALID');
  });

  it('uses channel binding if that is required', async () => {
    await present('right');
    expect(await outcome(`${query('require')}&channel_binding=require`)).toBe('encrypted');
    expect(await outcome(`${query('disable')}&channel_binding=require`)).toBe('ERR_TLS_CHANNEL_BINDING');
  });
});

describeUnless(NO_OPENSSL ?? NO_REDIS)('A connection to Redis', () => {
  let own: Authority;
  let redis: TestRedis;
  let port = 0;
  beforeAll(async () => {
    own = new Authority();
    const { cert, key } = own.issue('DNS:localhost,IP:127.0.0.1');
    port = await freePort();
    const files = ['--tls-cert-file', cert, '--tls-key-file', key, '--tls-ca-cert-file', own.certificate];
    redis = await TestRedis.start(
      '--requirepass',
      'p%ss@:/#?',
      '--tls-port',
      String(port),
      '--tls-auth-clients',
      'no',
      ...files,
    );
  });
  afterAll(async () => {
    await redis.stop();
    rmSync(own.folder, { recursive: true });
  });

  const urlWith = (query: string) => `rediss://:${encodeURIComponent('p%ss@:/#?')}@127.0.0.1:${port}/0?${query}`;

  it.each<[string, () => string]>([
    ['without verification', () => 'sslmode=require'],
    ['of an own CA', () => `sslrootcert=${own.certificate}`],
  ])('is encrypted, %s', async (_what, query) => {
    const servers = serversAt([urlWith(query())], 'standalone');
    await requireUsableRedis(servers);
    const client = connectRedis(servers, {});
    expect(await client.ping()).toBe('PONG');
    client.disconnect();
  });

  it('is refused with a sentence if its certificate is not accepted', async () => {
    const error: unknown = await requireUsableRedis(serversAt([urlWith('')], 'standalone')).catch(
      (reason: unknown) => reason,
    );
    expect(startErrorMessage(error)).toMatch(
      /^The Redis server at REDIS_URL cannot be used: TLS failed: .*sslrootcert[^\n]*\.$/,
    );
    expect(String((error as Error).stack)).not.toMatch(/p%ss|p%25ss/);
  });

  it('may have a password as it is', async () => {
    await requireUsableRedis(serversAt([`rediss://:p%ss@:%2F#?@127.0.0.1:${port}?sslmode=require`], 'standalone'));
  });
});
