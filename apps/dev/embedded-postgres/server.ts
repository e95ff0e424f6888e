import { setTimeout as sleep } from 'node:timers/promises';
import type { ClientConfig } from 'pg';
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

/** Resolves when the server accepts connections. */
export async function startServer(launch: Launch): Promise<Server> {
  const { dataDir, runAs, connection } = launch;
  const deadline = Date.now() + RETRY_MS;
  for (;;) {
    const port = launch.port ?? (await freePort());
    const log = await ServerLog.in(dataDir);
    const keeper = await log.opened(runAs.user, (descriptor) => Keeper.start(runAs, command(launch, port), descriptor));
    const ownership = await claimWhenReady(keeper, connection(port));
    const postmaster = await findPostmaster(dataDir);
    if (ownership && postmaster) return { port, pid: postmaster.pid, keeper, ownership };
    if (!ownership && keeper.isRunning) {
      keeper.release();
      await keeper.exited;
      throw inUse(dataDir);
    }
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

/** Undefined if the server ended or another process claimed it first. */
async function claimWhenReady(keeper: Keeper, config: ClientConfig): Promise<Ownership | undefined> {
  while (keeper.isRunning) {
    try {
      return await Ownership.claim(config);
    } catch {
      // Recovery after a crash may take any time.
      await sleep(30);
    }
  }
  return undefined;
}

function reasonIn(log: string): string {
  const fatal = [...log.matchAll(/(?:FATAL|PANIC): +(.*)$/gm)].at(-1)?.[1];
  return fatal ?? log.trim().split('\n').at(-1) ?? '';
}
