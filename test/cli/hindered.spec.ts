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
  it.each([
    ['nothing', {}, [{}, {}], []],
    ['that the account is paused', {}, [paused, paused], [PAUSED]],
    ['that it goes on', {}, [paused, {}, {}], [PAUSED, AGAIN]],
    ['each pause', {}, [paused, {}, paused], [PAUSED, AGAIN, PAUSED]],
    ['only once that it was paused before', paused, [paused, {}], [PAUSED, AGAIN]],
    ['that another mode was chosen', {}, [handler, handler], [HANDLER]],
    ['which mode was chosen', {}, [handler, { delivery: 'webhooks' }, {}], [HANDLER, WEBHOOKS, AGAIN]],
    ['what else there is after a pause', {}, [{ ...paused, ...handler }, handler, {}], [PAUSED, HANDLER, AGAIN]],
    ['it also when the key cannot look at the account', null, [handler, paused, {}], [HANDLER, PAUSED, AGAIN]],
  ])('says %s', async (_what, account, leases, said) => {
    server.url('/account', (response) => {
      if (account === null)
        response.writeHead(403, { 'x-request-id': 'r' }).end('{"code":"insufficient_scope","detail":"No."}');
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
