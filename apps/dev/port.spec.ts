import { createServer } from 'node:net';
import { freePort } from '../../test/support/processes.js';
import { nextFreePort } from './port.js';

it('The next free port is neither in use nor reserved', async () => {
  const port = await freePort(3);
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  expect(await nextFreePort(port, '127.0.0.1', port + 1)).toBe(port + 2);
  server.close();
});
