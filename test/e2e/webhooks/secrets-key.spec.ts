import type { SentMessage } from '../../support/api.js';
import { Fleet } from '../../support/fleet.js';
import { Program, until } from '../../support/processes.js';
import { Receiver } from '../../support/receiver.js';

const OTHER = 'b'.repeat(64);

describe('When the first endpoint is created while a worker without SECRETS_KEY runs', () => {
  let fleet: Fleet;
  let receiver: Receiver;
  let keyless: Program;
  beforeAll(async () => {
    receiver = await Receiver.start();
    fleet = await Fleet.start({ WEBHOOK_ALLOW_PRIVATE: 'true' });
    keyless = await fleet.worker({ SECRETS_KEY: '' });
    await fleet.client.ask(fleet.account, 'PATCH /account', { delivery: 'webhooks' });
    await fleet.client.ask(fleet.account, 'POST /endpoints', { url: receiver.url('/', 204) });
  });
  afterAll(async () => {
    receiver.stop();
    await fleet.stop();
  });

  const send = async () => {
    const messages = Array.from({ length: 20 }, (_, n) => `message ${n}`);
    const { body } = await fleet.client.sendBatch(fleet.account, { messages });
    return (body.data as SentMessage[]).map(({ id }) => id);
  };
  const states = (ids: string[]) =>
    fleet.sql<{ status: string; attempts: number }>(
      'SELECT DISTINCT status, attempts FROM sluice.messages WHERE id = ANY ($1)',
      [ids],
    );

  it('it leaves the deliveries to others, and says so once', async () => {
    const ids = await send();
    await keyless.printed(/"msg":"SECRETS_KEY lacks a key of endpoints: [^\n]*Set it, and restart this one"/);
    expect(await states(ids)).toEqual([{ status: 'queued', attempts: 0 }]);
    await fleet.worker();
    ids.push(...(await send()));
    await until(() => ids.every((id) => receiver.ids('/').includes(id)));
    await until(async () => JSON.stringify(await states(ids)) === '[{"status":"delivered","attempts":1}]');
    expect(keyless.output.match(/SECRETS_KEY lacks/g)).toHaveLength(1);
  });

  it.each([
    ['no key', ''],
    ['another key', OTHER],
  ])('another worker with %s does not start, and prints one sentence', async (_what, key) => {
    const program = Program.run('dist/apps/worker/main.js', { ...fleet.client.environment, SECRETS_KEY: key });
    expect(await program.ended()).toBe(1);
    expect(program.output).toMatch(/^worker: SECRETS_KEY lacks a key [^\n]*docs\/webhooks\.md\.\n$/);
  });
});
