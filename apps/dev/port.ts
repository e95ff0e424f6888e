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
