import { Cli } from '../support/cli.js';
import { Receiver } from '../support/receiver.js';

const PAUSED = '! The account is paused: nothing can be pulled until `sluice resume`.';
const HANDLER = '! The delivery mode of the account is handler, so that nothing new can be pulled.';
const WEBHOOKS = HANDLER.replace('handler', 'webhooks');
const AGAIN = 'Messages can be pulled again.';

describe.each([
  ['consume', ['--exec', 'cat']],
  ['listen', ['--forward-to', 'localhost:3000']],
])('sluice %s', (command, options) => {
  let server: Receiver;
  let cli: Cli;
  beforeEach(async () => {
    server = await Receiver.start();
    cli = new Cli({ SLUICE_BASE_URL: server.origin, SLUICE_API_KEY: 'slc_x' });
  });
  afterEach(() => {
    cli.remove();
    server.stop();
  });

  const paused = { paused: true };
  const handler = { delivery: 'handler' };
  const webhooks = { delivery: 'webhooks' };
  it.each<[string, readonly object[], readonly object[], readonly string[]]>([
    ['nothing', [{}], [{}, {}], []],
    ['that the account is paused', [{}], [paused, paused], [PAUSED]],
    ['that it goes on', [{}], [paused, {}, {}], [PAUSED, AGAIN]],
    ['each pause', [{}], [paused, {}, paused], [PAUSED, AGAIN, PAUSED]],
    ['only once that it was paused before', [paused, {}], [paused, {}], [PAUSED, AGAIN]],
    ['that another mode was chosen', [{}, handler], [{}, {}], [HANDLER]],
    ['which mode was chosen', [{}, handler, webhooks, {}], [{}, {}, {}], [HANDLER, WEBHOOKS, AGAIN]],
    ['what else there is after a pause', [{}, handler, {}], [paused, {}, {}], [PAUSED, HANDLER, AGAIN]],
    ['nothing wrong when the account cannot be looked at', [{}, handler, { status: 404 }], [{}, {}], [HANDLER]],
    ['a pause also when the key cannot look at the account', [{ status: 403 }], [{}, paused, {}], [PAUSED, AGAIN]],
  ])('says %s', async (_what, accounts, leases, said) => {
    server.url('/account', (response, _request, n) => {
      const account = accounts[Math.min(n, accounts.length) - 1] ?? {};
      if ('status' in account)
        response.writeHead(Number(account.status), { 'x-request-id': 'r' }).end('{"code":"refused","detail":"No."}');
      else response.end(JSON.stringify({ plan: 'free', delivery: 'pull', paused: false, ...account }));
    });
    server.url('/messages/lease', (response, _request, n) => {
      const lease = leases[n - 1];
      if (lease !== undefined) response.end(JSON.stringify({ data: [], ...lease }));
      else running.signal('SIGINT');
    });
    const running = cli.start([command, ...options]);
    const { code, stderr } = await running.ended();
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.any(String) as string });
    const lines = stderr.split('\n').filter((line) => [PAUSED, HANDLER, WEBHOOKS, AGAIN].includes(line));
    expect(lines).toEqual(said);
  });
});
