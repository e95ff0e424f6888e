import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** The API of a start that was killed may need this long to finish its last requests, in milliseconds. */
const patience = 3_000;

/** Resolves with a port that can be bound: the wanted one, or any if that is 0; undefined if it stays in use. */
export async function usablePort(port: number, host: string): Promise<number | undefined> {
  const deadline = Date.now() + patience;
  for (;;) {
    const found = await bind(port, host);
    if (found !== undefined || Date.now() > deadline) return found;
    await sleep(100);
  }
}

/**
 * Resolves with the first port from this one on that nobody uses; any if those up to the last are all taken.
 * @param kept one that is free so far, and meant for something else
 */
export async function nextFreePort(port: number, host: string, kept: number): Promise<number> {
  for (let next = port; next < 65_536; next++) {
    if (next !== kept && (await bind(next, host)) !== undefined) return next;
  }
  return (await bind(0, host)) ?? 0;
}

async function bind(port: number, host: string): Promise<number | undefined> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      // What else may be wrong with the address is for the API to say, which really needs it.
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
