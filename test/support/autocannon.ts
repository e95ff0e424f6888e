import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from './processes.js';

interface Report {
  readonly statusCodeStats: Readonly<Record<string, { readonly count: number }>>;
  /** Seconds. */
  readonly duration: number;
  /** Milliseconds. */
  readonly latency: { readonly p50: number };
}

/** Requests on many connections, each sent when the one before has its response, from a process of their own. */
export async function autocannon(url: string, key: string, ...options: readonly (string | number)[]): Promise<Report> {
  const args = ['--json', '-t', 30, '-H', `authorization=Bearer ${key}`, ...options, url].map(String);
  const program = join(ROOT, 'node_modules/autocannon/autocannon.js');
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...args]);
  return JSON.parse(stdout) as Report;
}
