import { createServer, type Server } from 'node:http';
import { Cli } from '../support/cli.js';
import { listen, until } from '../support/processes.js';

/** What the service does with the request before the command is interrupted. */
const SERVICES = [
  ['does not answer', () => createServer()],
  ['answers in part', () => createServer((_, response) => response.writeHead(202).write('{"id":"msg_x",'))],
  ['refuses for now', () => createServer((_, response) => response.writeHead(503, { 'retry-after': '60' }).end())],
] as const;

describe('sluice send', () => {
  let server: Server;
  let cli: Cli;
  afterEach(() => {
    cli.remove();
    server.closeAllConnections();
    server.close();
  });

  it.each(
    SERVICES.flatMap(([what, make]) =>
      (['SIGINT', 'SIGTERM', 'SIGHUP'] as const).map((name) => [what, name, make] as const),
    ),
  )('says that the outcome is unknown when the service %s and it gets %s', async (_what, name, make) => {
    server = make();
    let requests = 0;
    server.on('request', () => requests++);
    cli = new Cli({ SLUICE_BASE_URL: await listen(server), SLUICE_API_KEY: 'slc_x' });
    for (const options of [[], ['--json']]) {
      const before = requests;
      const running = cli.start(['send', 'hello', ...options]);
      await until(() => requests > before);
      running.signal(name);
      const { code, stdout, stderr } = await running.ended();
      const sentence = 'Interrupted. Whether the message is stored is unknown.';
      const said = stderr.trimEnd().split('\n').at(-1) ?? '';
      expect({ code, stdout }).toEqual({ code: 130, stdout: '' });
      if (options.length === 0) expect(said).toBe(`error: ${sentence}`);
      else expect(JSON.parse(said)).toEqual({ error: { message: sentence } });
    }
  });
});
