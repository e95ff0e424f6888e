import { setTimeout as sleep } from 'node:timers/promises';
import { type ClientConfig, DatabaseError } from 'pg';
import type { Binaries } from './binaries.js';
import { UsageError } from '#platform/process/usage-error.js';
import { freePort } from '../port.js';
import { Keeper } from './keeper.js';
import { inUse, Ownership } from './ownership.js';
import { findPostmaster } from './postmaster.js';
import type { RunAs } from './run-as.js';
import { ServerLog } from './server-log.js';

interface Launch {
  readonly dataDir: string;
  readonly binaries: Binaries;
  readonly runAs: RunAs;
  readonly settings: Readonly<Record<string, string>>;
  /** Any free one if undefined. */
  readonly port: number | undefined;
  readonly connection: (port: number) => ClientConfig;
  readonly stopping: AbortSignal | undefined;
}

export interface Server {
  readonly port: number;
  readonly pid: number;
  readonly keeper: Keeper;
  readonly ownership: Ownership;
}

/** How long a start is retried after a temporary failure. */
const RETRY_MS = 10_000;
/** Backends of a killed server that still end, or a port that was taken after it was chosen. */
const TEMPORARY = /pre-existing shared memory block|lock file ".*" already exists|Address already in use/;

/** SQLSTATE cannot_connect_now. */
const STARTING_UP = '57P03';

/** Resolves when the server accepts connections. */
export async function startServer(launch: Launch): Promise<Server> {
  const { dataDir, runAs } = launch;
  const deadline = Date.now() + RETRY_MS;
  for (;;) {
    const port = launch.port ?? (await freePort());
    const log = await ServerLog.in(dataDir);
    const keeper = await log.opened(runAs.user, (descriptor) => Keeper.start(runAs, command(launch, port), descriptor));
    const ownership = await claimWhenReady(keeper, port, launch).catch(async (error: unknown) => {
      keeper.release();
      await keeper.exited;
      throw error;
    });
    const postmaster = await findPostmaster(dataDir);
    if (ownership && postmaster) return { port, pid: postmaster.pid, keeper, ownership };
    const text = await log.text();
    if (!TEMPORARY.test(text) || Date.now() > deadline) {
      throw new UsageError(`PostgreSQL did not start: ${reasonIn(text)} (log: ${log.path}).`);
    }
    await sleep(200);
  }
}

function command({ binaries, dataDir, settings }: Launch, port: number): string[] {
  const flags = Object.entries({ ...settings, port: String(port) }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ]);
  return [binaries.postgres, '-D', dataDir, ...flags];
}

/** Undefined if the server ended. Rejects if it refuses this process, or another one claimed it first. */
async function claimWhenReady(
  keeper: Keeper,
  port: number,
  { dataDir, connection, stopping }: Launch,
): Promise<Ownership | undefined> {
  while (keeper.isRunning) {
    stopping?.throwIfAborted();
    try {
      const ownership = await Ownership.claim(connection(port));
      if (ownership) return ownership;
    } catch (error) {
      // Until it is ready, another server may be on this port.
      const isRefused = error instanceof DatabaseError && error.code !== STARTING_UP;
      if (isRefused && (await findPostmaster(dataDir))?.isReady === true) {
        throw new UsageError(`PostgreSQL in ${dataDir} refuses the connection: ${error.message}.`);
      }
      // Recovery after a crash may take any time.
      await sleep(30);
      continue;
    }
    throw inUse(dataDir);
  }
  return undefined;
}

function reasonIn(log: string): string {
  const fatal = [...log.matchAll(/(?:FATAL|PANIC): +(.*)$/gm)].at(-1)?.[1];
  return fatal ?? log.trim().split('\n').at(-1) ?? '';
}
