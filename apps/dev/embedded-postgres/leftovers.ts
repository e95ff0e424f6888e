import { setTimeout as sleep } from 'node:timers/promises';
import type { ClientConfig } from 'pg';
import { UsageError } from '#platform/process/usage-error.js';
import { inUse, Ownership } from './ownership.js';
import { findPostmaster, isAlive, type Postmaster, removeStalePidFile } from './postmaster.js';

/** How long to wait for a server that neither responds nor ends. */
const TIMEOUT_MS = 30_000;

/** Stops a server that was left behind because its parent and its keeper were killed. Rejects if it is in use. */
export async function clearLeftovers(dataDir: string, connection: (port: number) => ClientConfig): Promise<void> {
  const deadline = Date.now() + TIMEOUT_MS;
  for (let found = await findPostmaster(dataDir); found; found = await findPostmaster(dataDir)) {
    // A server that refuses connections is starting or shutting down.
    const ownership = found.port > 0 ? await Ownership.claim(connection(found.port)).catch(() => null) : null;
    if (ownership === undefined) throw inUse(dataDir);
    if (ownership) {
      await stopOrphan(found, dataDir);
      await ownership.release();
    } else if (Date.now() > deadline) {
      throw new UsageError(`A PostgreSQL server (process ${found.pid}) uses ${dataDir} but does not respond: stop it.`);
    } else {
      await sleep(100);
    }
  }
  await removeStalePidFile(dataDir);
}

async function stopOrphan({ pid }: Postmaster, dataDir: string): Promise<void> {
  for (const { signal, wait } of [
    { signal: 'SIGINT', wait: 10_000 },
    { signal: 'SIGQUIT', wait: 5_000 },
  ] as const) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EPERM') return;
      throw new UsageError(`A PostgreSQL server of another user (process ${pid}) uses ${dataDir}: stop it.`);
    }
    const end = Date.now() + wait;
    while (Date.now() < end) {
      if (!isAlive(pid) || !(await findPostmaster(dataDir))) return;
      await sleep(50);
    }
  }
}
