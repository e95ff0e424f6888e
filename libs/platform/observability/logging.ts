import type { LoggerService } from '@nestjs/common';
import { pino, type DestinationStream, type Logger, type LoggerOptions } from 'pino';

export type { Logger } from 'pino';

/** The maximum depth of nested causes in a log line. */
const MAX_CAUSES = 5;

/**
 * Writes one JSON object per line, or formatted text when standard output is a terminal.
 * @param destination replaces standard output
 */
export function createLogger(level: string, processName: string, destination?: DestinationStream): Logger {
  const options: LoggerOptions = {
    level,
    hooks: { logMethod: limited() },
    base: { process: processName, pid: process.pid },
    serializers: { err: (error: unknown) => describeError(error, MAX_CAUSES) },
  };
  if (destination !== undefined) return pino(options, destination);
  if (!process.stdout.isTTY) return pino(options, standardOutput());
  return pino({
    ...options,
    transport: { target: 'pino-pretty', options: { ignore: 'pid,hostname', singleLine: true } },
  });
}

/** The most bytes of lines that wait while they cannot be written, as on a full disk. Further lines are lost. */
const MAX_WAITING_BYTES = 16_777_216;

/** Standard output, whose failures end no process. */
function standardOutput(): DestinationStream {
  const output = pino.destination({ maxLength: MAX_WAITING_BYTES }).on('error', () => undefined);
  const flush = output.flushSync.bind(output);
  output.flushSync = () => {
    // By default it waits without end for a reader that has stopped to read: the process could not end.
    Object.assign(output, { retryEAGAIN: () => false });
    try {
      flush();
    } catch {
      // pino calls this as the process ends: the lines that wait are lost.
    }
  };
  return output;
}

// pino's own serializer includes every property, and libraries attach SQL, its parameters, rows and connections to errors.
function describeError(error: unknown, causes: number): object {
  if (typeof error === 'string') return { message: error };
  // Not `instanceof`, because the error may come from another realm.
  if (typeof error !== 'object' || error === null || !('message' in error)) return { type: typeof error };
  const { name, message, stack, code, cause } = error as Partial<Error & { code: unknown }>;
  return {
    // The class is more specific: every error of pg has the name "error". An object without a prototype has no class.
    type: Object.getPrototypeOf(error) === null ? name : error.constructor.name,
    message,
    stack,
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    ...(cause === undefined || causes === 0 ? {} : { cause: describeError(cause, causes - 1) }),
  };
}

const PER_SECOND = 20;
const WARNING = 40;

/** Of warnings and errors with the same text, which a fault repeats with each request, one second has 20 at most. */
function limited(): NonNullable<NonNullable<LoggerOptions['hooks']>['logMethod']> {
  const written = new Map<string, number>();
  let timer: NodeJS.Timeout | null = null;
  return function (args, method, level) {
    if (level < WARNING) {
      method.apply(this, args);
      return;
    }
    const text = args.findLast((arg: unknown) => typeof arg === 'string') ?? '';
    const count = (written.get(text) ?? 0) + 1;
    written.set(text, count);
    if (count <= PER_SECOND) method.apply(this, args);
    timer ??= setTimeout(() => {
      timer = null;
      for (const [repeated, lines] of written) {
        if (lines > PER_SECOND) this.warn({ omitted: lines - PER_SECOND, repeated }, 'lines omitted');
      }
      written.clear();
    }, 1_000).unref();
  };
}

const WARN_EVERY_MS = 10_000;

/** Logs warnings that an outage repeats several times a second: of each kind one in 10 s. */
export class RareWarnings {
  private readonly loggedAt = new Map<string, number>();

  constructor(private readonly logger: Logger) {}

  warn(details: object, text: string, kind = text): void {
    const now = performance.now();
    if (now - (this.loggedAt.get(kind) ?? -Infinity) < WARN_EVERY_MS) return;
    this.loggedAt.set(kind, now);
    this.logger.warn(details, text);
  }
}

/** With these contexts it reports an error that is thrown as well, and printed when the process fails to start. */
const THROWN_AS_WELL: readonly unknown[] = ['ExceptionHandler', 'NestApplication'];

/** Sends the log of NestJS itself to the same logger. */
export class NestLogger implements LoggerService {
  constructor(private readonly logger: Logger) {}

  // Modules and routes at start-up.
  log(message: unknown): void {
    this.logger.debug(String(message));
  }

  error(message: unknown, ...details: unknown[]): void {
    if (THROWN_AS_WELL.includes(details.at(-1))) return;
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
