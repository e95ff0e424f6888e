import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** After npm start was killed, its API may need this long to finish its last requests. */
const WAIT_MS = 3_000;

/** The port if it can be bound, or any free one for 0; undefined if it stays in use. */
export async function usablePort(port: number, host: string): Promise<number | undefined> {
  const deadline = Date.now() + WAIT_MS;
  for (;;) {
    const found = await bind(port, host);
    if (found !== undefined || Date.now() > deadline) return found;
    await sleep(100);
  }
}

/**
 * The first free port from `port` on; any if all of them are in use.
 * @param reserved a port that is not to be used, though it may be free
 */
export async function nextFreePort(port: number, host: string, reserved: number): Promise<number> {
  for (let next = port; next < 65_536; next++) {
    if (next !== reserved && (await bind(next, host)) !== undefined) return next;
  }
  return (await bind(0, host)) ?? 0;
}

async function bind(port: number, host: string): Promise<number | undefined> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      // The API reports any other error.
      resolve(error.code === 'EADDRINUSE' ? undefined : port);
    });
    server.listen(port, host, () => {
      const bound = (server.address() as AddressInfo).port;
      server.close(() => {
        resolve(bound);
      });
    });
  });
}
