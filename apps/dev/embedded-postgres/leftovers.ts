import { setTimeout as sleep } from 'node:timers/promises';
import type { ClientConfig } from 'pg';
import { EmbeddedPostgresError, inUse } from './error.js';
import { Ownership } from './ownership.js';
import { findPostmaster, isAlive, type Postmaster, removeStalePidFile } from './postmaster.js';

/** Waited this long for a server that neither answers nor ends, in milliseconds. */
const patience = 30_000;

/**
 * Makes way for a new server: stops one that nobody uses any more, because its parent and its keeper were killed.
 * Rejects if another process uses it.
 */
export async function clearLeftovers(dataDir: string, connection: (port: number) => ClientConfig): Promise<void> {
  const deadline = Date.now() + patience;
  for (let found = await findPostmaster(dataDir); found; found = await findPostmaster(dataDir)) {
    // Not connectable means starting or shutting down, mostly because its parent has just been killed.
    const ownership = found.port > 0 ? await Ownership.claim(connection(found.port)).catch(() => null) : null;
    if (ownership === undefined) throw inUse(dataDir);
    if (ownership) {
      await stopOrphan(found, dataDir);
      await ownership.release();
    } else if (Date.now() > deadline) {
      throw new EmbeddedPostgresError(
        `A PostgreSQL that does not answer runs on ${dataDir} (process ${found.pid}): stop that process.`,
      );
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
      throw new EmbeddedPostgresError(
        `A PostgreSQL of another user runs on ${dataDir} (process ${pid}): stop that process.`,
      );
    }
    const end = Date.now() + wait;
    while (Date.now() < end) {
      if (!isAlive(pid) || !(await findPostmaster(dataDir))) return;
      await sleep(50);
    }
  }
}
