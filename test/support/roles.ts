import { randomBytes } from 'node:crypto';
import { Client } from 'pg';

/** Runs statements as the owner of a database of tests. */
export async function asOwner<Row extends object>(url: string, ...statements: string[]): Promise<Row[]> {
  // Regardless of the defaults that it sets.
  const options = '-c idle_session_timeout=0 -c statement_timeout=0 -c lock_timeout=0 -c exit_on_error=off';
  const client = new Client({ connectionString: url, options: `${options} -c transaction_timeout=0` });
  await client.connect();
  try {
    let rows: Row[] = [];
    for (const statement of statements) rows = (await client.query<Row>(statement)).rows;
    return rows;
  } finally {
    await client.end();
  }
}

export function nameOf(url: string): string {
  return new URL(url).pathname.slice(1);
}

/** A role that can log in, and nothing else. @returns its name, and the URL of a database for it */
export async function newRole(databaseUrl: string, password = 'secret'): Promise<{ role: string; url: string }> {
  const role = `role_${randomBytes(6).toString('hex')}`;
  await asOwner(databaseUrl, `CREATE ROLE ${role} LOGIN PASSWORD '${password.replaceAll("'", "''")}'`);
  const url = Object.assign(new URL(databaseUrl), { username: role, password: encodeURIComponent(password) });
  return { role, url: url.href };
}

export async function dropRole(databaseUrl: string, role: string): Promise<void> {
  await asOwner(databaseUrl, `DROP OWNED BY ${role}`, `DROP ROLE ${role}`);
}
