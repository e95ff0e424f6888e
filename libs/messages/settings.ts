import { statSync } from 'node:fs';
import type { Environment, Format } from '#platform/process/environment.js';

/** Looked for when a process starts, since a mistyped name would be no limit. */
const FOLDER: Format<string> = {
  expected: 'a folder that exists',
  parse: (path) => (isFolder(path) ? path : undefined),
};

/** Limits of storage, and retries of deliveries. Times are in milliseconds, sizes in MiB. */
export function readMessagesSettings(env: Environment) {
  return {
    space: {
      maxDatabaseMb: env.integer('MAX_DATABASE_MB', 0, 0, 1_000_000_000),
      folder: env.read('DATABASE_DIR', null, FOLDER),
      minFreeMb: env.integer('MIN_FREE_DISK_MB', 512, 0, 1_000_000_000),
    },
    maxStoredMb: {
      perAccount: env.integer('MAX_STORED_MB_PER_ACCOUNT', 10_240, 0, 1_000_000_000),
      byPlan: new Map([
        ['free', env.integer('MAX_STORED_MB_FREE', 1_024, 0, 1_000_000_000)],
        ['pro', env.integer('MAX_STORED_MB_PRO', 5_120, 0, 1_000_000_000)],
      ]),
    },
    retries: {
      maxAttempts: env.integer('MAX_ATTEMPTS', 5, 1, 100),
      backoffMs: env.integer('BACKOFF_MS', 1_000, 1, 86_400_000),
      maxBackoffMs: env.integer('MAX_BACKOFF_MS', 3_600_000, 1, 86_400_000),
    },
  };
}

export type MessagesSettings = ReturnType<typeof readMessagesSettings>;

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
