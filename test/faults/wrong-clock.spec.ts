import { writeFileSync } from 'node:fs';
import { expectProblem, newKey, OPERATOR, TestApi } from '../support/api.js';
import { Fleet } from '../support/fleet.js';
import { callUndocumented } from '../support/http.js';
import { freePort, SHIFTED_CLOCK, type Program } from '../support/processes.js';
import { Receiver } from '../support/receiver.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Between a request and what it is compared with. */
const SLACK_SECONDS = 15;

describe.each([
  ['behind', -2 * HOUR_MS],
  ['ahead', 2 * HOUR_MS],
])('An API whose clock is two hours %s', (_where, shiftMs) => {
  let fleet: Fleet;
  let receiver: Receiver;
  let program: Program;
  let right: TestApi;
  let wrong: TestApi;

  beforeAll(async () => {
    fleet = await Fleet.start({ WEBHOOK_ALLOW_PRIVATE: 'true' });
    receiver = await Receiver.start();
    right = fleet.client;
    const [file, PORT] = [fleet.file('shift'), String(await freePort())];
    writeFileSync(file, String(shiftMs));
    program = fleet.start('dist/apps/api/main.js', { ...SHIFTED_CLOCK, CLOCK_FILE: file, PORT });
    await program.ready();
    wrong = TestApi.at(program.url, right.environment.DATABASE_URL ?? '');
  });
  afterAll(async () => {
    receiver.stop();
    await wrong.stop();
    await fleet.stop();
  });

  const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();
  /** That a time is so many seconds ahead of the right clock. */
  const expectIn = (seconds: number, time: unknown) => {
    const at = typeof time === 'number' ? time * 1_000 : Date.parse(String(time));
    expect(Math.abs(at - Date.now() - seconds * 1_000)).toBeLessThan(SLACK_SECONDS * 1_000);
  };

  it('is ready, and says that its clock is wrong', async () => {
    const { status, body } = await callUndocumented(await program.managementUrl(), { path: '/health/ready' });
    expect([status, body.checks]).toEqual([200, { process: 'serving', database: 'up', clock: 'wrong' }]);
  });

  it('makes keys that end in the future, and no others', async () => {
    const make = (ms: number) => wrong.ask(fleet.account, 'POST /api-keys', { name: 'a', expiresAt: inMs(ms) });
    expectProblem(await make(-HOUR_MS), 400, 'validation_failed');
    const key = newKey(await make(HOUR_MS));
    expect([await wrong.knows(key), await right.knows(key)]).toEqual([true, true]);
    expectIn(0, key.createdAt);
  });

  it('refuses a key that has expired', async () => {
    const key = await right.createKey(fleet.account, { expiresAt: inMs(HOUR_MS) });
    await right.sql(`UPDATE sluice.api_keys SET expires_at = now() - interval '1 second' WHERE id = $1`, [key.id]);
    expect(await wrong.knows(key)).toBe(false);
  });

  it('lets a rotated key live for its grace', async () => {
    const old = await right.createKey(fleet.account);
    newKey(await wrong.ask(fleet.account, `POST /api-keys/${old.id}/rotate`, { graceSeconds: 600 }));
    const { status, body } = await right.ask(old, 'GET /api-keys/current');
    expect([status, await wrong.knows(old)]).toEqual([200, true]);
    expectIn(600, body.expiresAt);
  });

  it.each(['right', 'wrong'])(
    'makes and exchanges links that live as long as asked: made by the %s one',
    async (by) => {
      const [maker, opener] = by === 'right' ? [right, wrong] : [wrong, right];
      const asked = { scopes: ['messages:read'], expiresInSeconds: 900 };
      const { body } = await maker.ask(OPERATOR, `POST /admin/accounts/${fleet.account.id}/portal-links`, asked);
      expectIn(900, body.expiresAt);
      const token = String(body.url).split('#link=')[1];
      expect((await opener.ask(null, 'POST /portal-links/open', { token })).status).toBe(201);
    },
  );

  it.each([
    [29.98, 202],
    [30.04, 400],
  ])('answers a message that is due in %d days with %i', async (days, status) => {
    const body = { message: 'a', deliverAt: inMs(days * DAY_MS) };
    expect((await wrong.send(fleet.account, { body })).status).toBe(status);
    expect((await wrong.ask(fleet.account, 'POST /messages/batch', { messages: [body] })).status).toBe(status);
  });

  it('dates messages, and says when a window resets', async () => {
    const response = await wrong.send(fleet.account);
    expectIn(0, response.body.createdAt);
    const [, left] = /;t=(\d+)$/.exec(response.headers.ratelimit ?? '') ?? [];
    expectIn(Number(left), Number(response.headers['x-ratelimit-reset']));
  });

  it('signs tests of endpoints, and replays what was sent until now', async () => {
    const endpoint = await wrong.ask(fleet.account, 'POST /endpoints', { url: receiver.url('/hook') });
    const path = `/endpoints/${String(endpoint.body.id)}`;
    expect((await wrong.ask(fleet.account, `POST ${path}/test`, {})).status).toBe(200);
    expectIn(0, Number(receiver.at('/hook')[0]?.headers['webhook-timestamp']));
    const period = { since: inMs(-60_000) };
    expect((await wrong.ask(fleet.account, `POST ${path}/replay`, period)).status).toBe(202);
  });
});
