import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** After npm start was killed, its API may need this long to finish its last requests. */
const WAIT_MS = 3_000;

/** The port if it can be bound, or any free one for 0; undefined if it stays in use. */
export async function usablePort(port: number, host: string): Promise<number | undefined> {
  const deadline = Date.now() + WAIT_MS;
  for (;;) {
    const found = await tryPort(port, host);
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
    if (next !== reserved && (await tryPort(next, host)) !== undefined) return next;
  }
  return (await tryPort(0, host)) ?? 0;
}

/** A free port of 127.0.0.1 that no connection takes before it is bound: systems assign higher ones to connections. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = await tryPort(randomInt(10_000, 32_768), '127.0.0.1');
    if (port !== undefined) return port;
  }
}

/** The port if it is free, or any free one for 0; undefined if it is in use. */
async function tryPort(port: number, host: string): Promise<number | undefined> {
  try {
    return await bind(port, host);
  } catch (error) {
    // The API reports any other error.
    return (error as NodeJS.ErrnoException).code === 'EADDRINUSE' ? undefined : port;
  }
}

/** Binds a port for a moment. @returns its number */
async function bind(port: number, host: string): Promise<number> {
  const server = createServer().listen(port, host);
  await once(server, 'listening');
  const bound = (server.address() as AddressInfo).port;
  await once(server.close(), 'close');
  return bound;
}
