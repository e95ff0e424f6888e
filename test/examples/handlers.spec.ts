import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Fleet } from '../support/fleet.js';
import { Mailbox } from '../support/mailbox.js';
import { listen, until } from '../support/processes.js';

/** The worker as `npm run start:worker` runs it. */
const WORKER = 'dist/apps/worker/main.js';

describe('a worker with a handler selected by HANDLER', () => {
  let fleet: Fleet;
  beforeAll(async () => {
    fleet = await Fleet.start({ MANAGEMENT_PORT: '0' });
  });
  afterAll(() => fleet.stop());

  it('http posts each message, and fails what is rejected', async () => {
    const received: string[] = [];
    const receiver = createServer((request, response) => {
      void text(request).then((body) => {
        received.push(`${String(request.headers['idempotency-key'])} ${body}`);
        response.writeHead(body === 'never' ? 422 : 204).end();
      });
    });
    const url = `${await listen(receiver)}/`;
    const worker = await fleet.worker({ HANDLER: 'http', HTTP_HANDLER_URL: url }, WORKER);
    const [now, never] = [await fleet.send('now'), await fleet.send('never')];
    await until(fleet.has(now, 'delivered'));
    await until(fleet.has(never, 'failed'));
    expect(await fleet.message(never)).toMatchObject({ attempts: 1, failureReason: 'The receiver returned 422.' });
    expect(received.sort()).toEqual([`${now} now`, `${never} never`].sort());
    expect(await worker.end()).toBe(0);
    receiver.closeAllConnections();
    receiver.close();
  });

  it('email sends each message, and fails what the server rejects permanently', async () => {
    const mailbox = await Mailbox.open();
    const worker = await fleet.worker(
      {
        ...{ HANDLER: 'email', EMAIL_HANDLER_SERVER: mailbox.url },
        ...{ EMAIL_HANDLER_FROM: 'sluice@sender.example', EMAIL_HANDLER_TO: 'people@receiver.example' },
      },
      WORKER,
    );
    const delivered = await fleet.send('Hello');
    await until(fleet.has(delivered, 'delivered'));
    expect(mailbox.received.map((sent) => sent.text.includes(`Message-ID: <${delivered}@`))).toEqual([true]);
    mailbox.refuse(550);
    const refused = await fleet.send('Hello?');
    await until(fleet.has(refused, 'failed'));
    const failed = { attempts: 1, failureReason: 'The mail server returned 550.' };
    expect(await fleet.message(refused)).toMatchObject(failed);
    expect(await worker.end()).toBe(0);
    await mailbox.close();
  });

  it('does not start when it cannot select one, and reports the error', async () => {
    const worker = fleet.start(WORKER, { HANDLER: 'htpp' });
    expect(await worker.ended()).toBe(1);
    expect(worker.output.trim()).toMatch(
      /^worker: HANDLER names "htpp", which is neither a handler of Sluice nor found/,
    );
  });

  it('ends without an error by a signal while its module is loaded', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-handler-'));
    const HANDLER = join(folder, 'handler.mjs');
    writeFileSync(HANDLER, "console.log('loading'); await new Promise(() => undefined);");
    const worker = fleet.start(WORKER, { HANDLER });
    await worker.printed(/loading/);
    worker.signal('SIGTERM');
    expect(await worker.ended()).toBe(0);
    expect(worker.output).not.toContain('HANDLER');
    rmSync(folder, { recursive: true });
  });

  it('starts at most WORKER_RATE deliveries a second in all processes together', async () => {
    const rate = { WORKER_RATE: '5' };
    const workers = [await fleet.worker(rate), await fleet.worker(rate)];
    const before = fleet.handled().length;
    const begin = Date.now();
    await Promise.all(Array.from({ length: 15 }, () => fleet.send('hello')));
    await until(() => fleet.handled().length - before === 15);
    // The first five in the first second, the last five in the third.
    expect(Date.now() - begin).toBeGreaterThan(1_500);
    for (const worker of workers) expect(await worker.end()).toBe(0);
  });
});
