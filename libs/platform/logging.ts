import type { LoggerService } from '@nestjs/common';
import { pino, type DestinationStream, type Logger } from 'pino';

export type { Logger } from 'pino';

/** An error's cause may have a cause in turn: so many of them are told. */
const MAX_CAUSES = 5;

/**
 * One JSON object a line; for people when standard output is a terminal.
 * @param destination takes the lines instead of standard output
 */
export function createLogger(level: string, processName: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: { process: processName, pid: process.pid },
    serializers: { err: (error: unknown) => describeError(error, MAX_CAUSES) },
  };
  if (destination !== undefined) return pino(options, destination);
  if (!process.stdout.isTTY) return pino(options);
  return pino({
    ...options,
    transport: { target: 'pino-pretty', options: { ignore: 'pid,hostname', singleLine: true } },
  });
}

// Not pino's own, which tells every property: libraries hang SQL, its parameters, rows and whole connections on errors.
function describeError(error: unknown, causes: number): object {
  if (typeof error === 'string') return { message: error };
  // By its form, as pino does: an error may be of another realm.
  if (typeof error !== 'object' || error === null || !('message' in error)) return { type: typeof error };
  const { name, message, stack, code, cause } = error as Partial<Error & { code: unknown }>;
  return {
    // The class tells more: pg calls all of its errors "error". An object without a prototype has none.
    type: Object.getPrototypeOf(error) === null ? name : error.constructor.name,
    message,
    stack,
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    ...(cause === undefined || causes === 0 ? {} : { cause: describeError(cause, causes - 1) }),
  };
}

/** What Nest itself has to say goes the same way as all else. */
export class NestLogger implements LoggerService {
  constructor(private readonly logger: Logger) {}

  // Nest's own start-up lines (modules, routes) are of interest only when something is being looked for.
  log(message: unknown): void {
    this.logger.debug(String(message));
  }

  error(message: unknown, ...details: unknown[]): void {
    // By this name it tells of what keeps a process from starting, which is thrown as well and told in one sentence.
    if (details.at(-1) === 'ExceptionHandler') return;
    this.logger.error({ details }, String(message));
  }

  warn(message: unknown): void {
    this.logger.warn(String(message));
  }

  debug(message: unknown): void {
    this.logger.debug(String(message));
  }

  verbose(message: unknown): void {
    this.logger.trace(String(message));
  }
}
