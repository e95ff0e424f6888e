import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import Ajv from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import pg from 'pg';
import { Fleet } from '../support/fleet.js';
import { Program, ROOT, until } from '../support/processes.js';
import { describeUnless } from '../support/skipping.js';
import { readPage } from '../docs/page.js';
import { endsEveryAttempt, runsMessages, workerLanguages } from './worker-languages.js';

const SENT_AT = '2026-11-21T09:30:00.123Z';
const FIELDS = {
  type: 'order.paid',
  metadata: JSON.parse('{"region":"eu","__proto__":"data"}') as Record<string, string>,
  orderingKey: 'customer-17',
};

/** What the documentation asks for where a worker does not set it: the test server has another default. */
const READ_COMMITTED = `DO $$ BEGIN
  EXECUTE format('ALTER DATABASE %I SET default_transaction_isolation = ''read committed''', current_database());
END $$`;

describe('A foreign worker', () => {
  let fleet: Fleet;
  let worker: Program | undefined;
  beforeAll(async () => {
    // Statuses must be updated by events, not by the reconciler.
    fleet = await Fleet.start({ RECONCILE_INTERVAL_MS: '3600000', MAX_ATTEMPTS: '2' });
  });
  // One that a failed test has left would take the jobs of the next test.
  afterEach(() => worker?.kill());
  afterAll(() => fleet.stop());

  const deliver = async (worker: Program) => {
    const ids = await Promise.all(['one', 'two', 'Grüße'].map((message) => fleet.send(message)));
    for (const id of ids) {
      await worker.printed(id);
      await until(fleet.has(id, 'delivered'));
      expect(await fleet.message(id)).toMatchObject({ attempts: 1, failureReason: null });
    }
    expect(worker.output).toContain(`${ids[2] ?? ''} Grüße {}`);
    const { id } = await fleet.client.sent(fleet.account, { body: { message: 'x', ...FIELDS } });
    await worker.printed(id);
    const [printed = ''] = /(?<= x ){.*}/.exec(worker.output.slice(worker.output.indexOf(id))) ?? [];
    expect(JSON.parse(printed)).toEqual(FIELDS);
    await until(fleet.has(id, 'delivered'));
    const texts = Array.from({ length: 10 }, (_, n) => `in order ${n}`);
    const keyed = texts.map((message) => ({ message, orderingKey: 'customer-18' }));
    expect((await fleet.client.sendBatch(fleet.account, { body: { messages: keyed } })).status).toBe(202);
    await worker.printed(texts.at(-1) ?? '');
    expect(worker.output.match(/in order \d/g)).toEqual(texts);
    await deliverBesideChecks(worker);
    expect(await fleet.census()).toBe(0);
  };

  /** Any worker's check for stalled jobs updates the rows of running ones, while their ends do. */
  const deliverBesideChecks = async (worker: Program) => {
    let isDone = false;
    const check = async () => {
      while (!isDone) {
        await fleet.sql(`UPDATE bullmq.job SET stalled_marked = true
          WHERE id = (SELECT id FROM bullmq.job WHERE state = 'active' LIMIT 1)`);
      }
    };
    const checking = check();
    const texts = Array.from({ length: 100 }, (_, n) => `checked ${n};`);
    const messages = texts.map((message) => ({ message }));
    expect((await fleet.client.sendBatch(fleet.account, { body: { messages } })).status).toBe(202);
    await until(() => texts.every((text) => worker.output.includes(text)));
    await until(async () => (await fleet.sql(`SELECT FROM sluice.messages WHERE status = 'queued'`)).length === 0);
    isDone = true;
    await checking;
    expect(worker.output.match(/checked \d+;/g)?.length).toBe(texts.length);
  };

  const refuse = async () => {
    await fleet.sql(`CREATE OR REPLACE FUNCTION bullmq.unknown() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN NEW.data = jsonb_set(NEW.data, '{v}', '2'); RETURN NEW; END $$`);
    await fleet.sql(
      `CREATE TRIGGER unknown BEFORE INSERT ON bullmq.job FOR EACH ROW EXECUTE FUNCTION bullmq.unknown()`,
    );
    const id = await fleet.send('of a later version');
    await until(fleet.has(id, 'failed'));
    await fleet.sql('DROP FUNCTION bullmq.unknown CASCADE');
    const failureReason = 'Unknown job version 2.';
    expect(await fleet.message(id)).toMatchObject({ attempts: 2, failureReason });
  };

  it('gets jobs that match the schema', async () => {
    const id = await fleet.send('💌');
    const { id: other } = await fleet.client.sent(fleet.account, {
      body: { message: 'x', deliverAt: SENT_AT, ...FIELDS },
    });
    await until(async () => (await fleet.sql('SELECT FROM bullmq.job')).length === 2);
    const jobs = await fleet.sql<{ id: string; name: string; data: Record<string, unknown> }>(
      'SELECT id, name, data FROM bullmq.job',
    );
    const dataOf = (jobId: string) => jobs.find((one) => one.id === jobId && one.name === 'message')?.data;
    const [data, full] = [dataOf(id), dataOf(other)];
    expect(Object.keys(data ?? {}).sort()).toEqual(['accountId', 'createdAt', 'id', 'message', 'v']);
    expect(full).toMatchObject({ message: 'x', deliverAt: SENT_AT, ...FIELDS });
    const schema = JSON.parse(readFileSync(join(ROOT, 'docs/job.schema.json'), 'utf8')) as object;
    const ajv = new Ajv.default({ strict: true });
    addFormats.default(ajv);
    const validate = ajv.compile(schema);
    for (const one of [data, full]) expect([validate(one), validate.errors]).toEqual([true, null]);
    expect(Object.keys(full ?? {}).sort()).toEqual(Object.keys((schema as { properties: object }).properties).sort());
    for (const name of Object.keys(full ?? {})) {
      expect([name, validate({ ...full, [name]: undefined })]).toEqual([name, !Object.hasOwn(data ?? {}, name)]);
      expect([name, validate({ ...full, [name]: 'x y' })]).toEqual([name, name === 'message']);
      expect(validate({ ...full, [name]: null })).toBe(false);
    }
    expect(validate({ ...full, metadata: { region: 17 } })).toBe(false);
    await fleet.sql('DELETE FROM bullmq.job');
    await fleet.sql('DELETE FROM sluice.messages');
    await fleet.sql('DELETE FROM sluice.ordered_deliveries');
  });

  it('delivers with the role that the documentation creates, which may access nothing else', async () => {
    const role = `consumer_${randomBytes(4).toString('hex')}`;
    const statements = readPage('docs/consuming.md').blocks.filter(({ language }) => language === 'sql');
    for (const { text } of statements) await fleet.sql(text.replaceAll('consumer', role).replace('…', 'secret'));
    const url = Object.assign(new URL(fleet.client.environment.DATABASE_URL ?? ''), {
      username: role,
      password: 'secret',
    });
    worker = fleet.start('docs/workers/postgres/worker.mjs', { DATABASE_URL: url.href });
    await deliver(worker);
    const client = new pg.Client(url.href);
    await client.connect();
    await expect(client.query('SELECT FROM sluice.accounts')).rejects.toThrow('permission denied');
    await client.end();
    worker.signal('SIGTERM');
    expect(await worker.ended()).toBe(0);
    await fleet.sql(`DROP OWNED BY ${role}`);
    await fleet.sql(`DROP ROLE ${role}`);
  });

  const languages = workerLanguages('bullmq.backends.postgres_backend, psycopg', 'bullmq[postgres]');
  for (const [language, script, interpreter, missing] of languages) {
    describeUnless(missing)(`in ${language}`, () => {
      it('delivers, and the status is updated immediately', async () => {
        if (language === 'Python') await fleet.sql(READ_COMMITTED);
        worker = fleet.start(`docs/workers/postgres/${script}`, {}, interpreter);
        await deliver(worker);
        await refuse();
        expect(await worker.end()).toBe(0);
      });

      it('ends every attempt, whatever it throws or returns', async () => {
        worker = runsMessages(fleet, `docs/workers/postgres/${script}`, language, interpreter);
        await endsEveryAttempt(fleet, worker, language);
      });
    });
  }
});
