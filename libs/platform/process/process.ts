import { inspect } from 'node:util';
import { DomainError } from '#kernel/domain-error.js';
import { sqlState } from '../database/errors.js';
import { UnusableSession } from '../database/session.js';
import { requireUsableDatabase } from '../database/usable-database.js';
import { createLogger, type Logger } from '../observability/logging.js';
import { isOfRedis, withoutEnd } from '../redis/errors.js';
import { exit } from './exit.js';
import type { PlatformSettings } from './settings.js';
import { UsageError } from './usage-error.js';
import { TLS_ERROR, tlsFailure } from '../process/tls-files.js';
import { listenErrorMessage } from './listen-error.js';

const SQLSTATE = /^(?=.*\d)[\dA-Z]{5}$/;

/** Signals within this time count as one: a terminal and npm both forward a Ctrl-C. */
const SAME_SIGNAL_MS = 1_000;
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

interface Running {
  stop(): Promise<void>;
}

/**
 * Runs a process: reads its settings, migrates and starts it, sends `ready` to its parent, and stops it on SIGTERM,
 * SIGINT, SIGHUP or when the parent is gone. A second signal ends it at once with exit code 1, unless only its terminal
 * was closed. A failed start prints the reason and exits with code 1.
 * @param read reads the settings
 * @param migrate migrates the schema of a database; calls `onWait` when another process is doing so
 */
export async function runProcess<Settings extends PlatformSettings>(
  name: string,
  read: (variables: NodeJS.ProcessEnv) => Settings,
  migrate: (url: string, onWait: () => void) => Promise<void>,
  start: (settings: Settings, logger: Logger, migrate: () => Promise<void>) => Promise<Running>,
): Promise<void> {
  // Until it has started, there is nothing to finish. Process 1 of a container ignores signals without a handler, and
  // one that arrives while handlers are replaced is lost: so there is one from the start.
  let onSignal: (signal: string) => void = () => exit(0);
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      onSignal(signal);
    });
  }
  try {
    const settings = read(process.env);
    const logger = createLogger(settings.logLevel, name);
    const { url } = settings.database;
    await requireUsableDatabase(url);
    const running = await start(settings, logger, () =>
      migrate(url, () => {
        logger.info('waiting for another process that migrates the schema');
      }),
    );
    onSignal = stopHandler(running, logger);
    if (process.connected) process.send?.('ready');
  } catch (error) {
    process.stderr.write(`${name}: ${startErrorMessage(error)}\n`);
    process.exit(1);
  }
}

/** Stops it when the parent is gone. @returns what a signal does */
function stopHandler(running: Running, logger: Logger): (signal: string) => void {
  let stoppingSince: number | null = null;
  const stop = (reason: string) => {
    if (stoppingSince !== null) return;
    stoppingSince = performance.now();
    logger.info({ reason }, 'stopping');
    running.stop().then(
      () => exit(0),
      (error: unknown) => {
        logger.error({ err: error }, 'stopping failed');
        exit(1);
      },
    );
  };
  process.on('disconnect', () => {
    stop('parent is gone');
  });
  // If the parent ended during the start, the event is past.
  if (process.send !== undefined && !process.connected) stop('parent is gone');
  return (signal) => {
    const isSecond = stoppingSince !== null && performance.now() - stoppingSince > SAME_SIGNAL_MS;
    if (isSecond && signal !== 'SIGHUP') exit(1);
    stop(signal);
  };
}

/** Why a process could not start, in one sentence, or a bug with its stack trace. */
export function startErrorMessage(error: unknown): string {
  if (error instanceof UsageError) return error.message;
  const cause = error instanceof DomainError && error.code === 'unavailable' ? error.cause : error;
  if (isOfRedis(cause)) return `The Redis server at REDIS_URL cannot be used: ${withoutEnd(cause.message)}.`;
  if (cause !== error) return databaseMessage(cause);
  if (SQLSTATE.test(sqlState(error))) return databaseMessage(error);
  // Errors of PostgreSQL and of the operating system have a code. Any other error is a bug.
  const isExpected = error instanceof Error && 'code' in error;
  return listenErrorMessage(error) ?? (isExpected ? error.message : inspect(error));
}

/** An error reported by PostgreSQL itself means that it was reached. */
function databaseMessage(cause: unknown): string {
  const name = 'The database at DATABASE_URL';
  if (cause instanceof UnusableSession) return `${name} ${cause.reason}.`;
  const { message = '', code = '' } = (cause ?? {}) as { readonly message?: string; readonly code?: string };
  if (TLS_ERROR.test(code)) {
    return `The TLS connection to the database at DATABASE_URL failed: ${tlsFailure(cause)}`;
  }
  if (sqlState(cause) === '42501') return `${name} grants the user too few rights: ${message}.`;
  if (message.includes('client password must be'))
    return `${name} asks for a password, which DATABASE_URL does not contain.`;
  if (SQLSTATE.test(sqlState(cause)) || message.startsWith('SASL'))
    return `${name} was reached, but cannot be used: ${message}.`;
  return `${name} cannot be reached: ${message || 'no response'}.`;
}
