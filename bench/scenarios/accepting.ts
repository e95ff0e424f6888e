import type { LoadResult } from '../load/run-load.js';
import type { Load } from '../load/request.js';
import type { Options } from '../options.js';
import type { Check } from '../report/report.js';
import { percentile } from '../report/stats.js';
import { TEXT } from '../targets/sluice.js';
import type { Serving } from '../targets/target.js';

/** A body of 200 bytes. */
export const BODY = JSON.stringify({ message: TEXT });

/** Of a message of 100 bytes. */
export const SHORT_BODY = JSON.stringify({ message: 'x'.repeat(100) });

/** The figures of a load. */
export interface Figures {
  readonly perSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  readonly peakBytes: number;
  /** CPU microseconds a message, by process. */
  readonly cpuMicros: Readonly<Record<string, number>>;
  readonly generatorLoad: number;
}

/** A closed loop: callers that send again as soon as they get a response. */
export function loadOf(
  serving: Pick<Serving, 'url' | 'keys'>,
  connections: number,
  { warmUpSeconds, seconds }: Options,
): Load {
  const { url, keys } = serving;
  return {
    url,
    method: 'POST',
    paths: ['/messages'],
    keys,
    body: BODY,
    connections,
    rate: null,
    warmUpSeconds,
    seconds,
  };
}

/** Who send at the same time while everything is measured together. */
export function callersOf({ smoke }: Options): number {
  return smoke ? 4 : 64;
}

/** Checks that every request was accepted and no connection broke. */
export function onlyAccepted(name: string, result: LoadResult): Check {
  return onlyStatus(name, result, 202);
}

export function onlyStatus(name: string, { responses, lost }: LoadResult, status: number): Check {
  const others = [...responses].filter(([other]) => other !== status).map(([other, count]) => `${count} × ${other}`);
  const count = responses.get(status) ?? 0;
  const what = `${name}: ${count} × ${status}, other responses: ${others.join(', ') || 'none'}, lost: ${lost}`;
  return { what, holds: others.length === 0 && lost === 0 && count > 0 };
}

export function figuresOf(result: LoadResult, status = 202): Figures {
  const latencies = result.latencies.get(status) ?? [];
  return {
    perSecond: result.perSecond.get(status) ?? 0,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    p999: percentile(latencies, 0.999),
    peakBytes: result.serverPeakBytes,
    cpuMicros: result.cpuPerResponse,
    generatorLoad: result.generatorLoad,
  };
}
