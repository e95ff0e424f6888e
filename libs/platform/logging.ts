import type { LoggerService } from '@nestjs/common';
import { pino, type Logger } from 'pino';

export type { Logger } from 'pino';

/** One JSON object a line; for people when standard output is a terminal. */
export function createLogger(level: string, processName: string): Logger {
  const options = { level, base: { process: processName, pid: process.pid } };
  if (!process.stdout.isTTY) return pino(options);
  return pino({
    ...options,
    transport: { target: 'pino-pretty', options: { ignore: 'pid,hostname', singleLine: true } },
  });
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
