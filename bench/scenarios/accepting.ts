import type { Driven } from '../load/drive.js';
import type { Load } from '../load/request.js';
import type { Options } from '../options.js';
import type { Check } from '../report/report.js';
import { percentile } from '../report/stats.js';
import { TEXT } from '../targets/sluice.js';
import type { Serving } from '../targets/target.js';

/** A body of 200 bytes. */
export const BODY = JSON.stringify({ message: TEXT });

/** What is told of a load of messages that were all accepted. */
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

/** Callers that send as soon as they are answered. */
export function loadOf(serving: Serving, connections: number, { warmUpSeconds, seconds }: Options): Load {
  const keys = serving.key === null ? [] : [serving.key];
  const { url } = serving;
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

/** Nobody may be refused here, and no connection may break. */
export function onlyAccepted(name: string, driven: Driven): Check {
  return onlyAnswered(name, driven, 202);
}

export function onlyAnswered(name: string, { answers, lost }: Driven, status: number): Check {
  const others = [...answers].filter(([other]) => other !== status).map(([other, count]) => `${count} × ${other}`);
  const count = answers.get(status) ?? 0;
  const what = `${name}: ${count} × ${status}, other answers: ${others.join(', ') || 'none'}, lost: ${lost}`;
  return { what, holds: others.length === 0 && lost === 0 && count > 0 };
}

export function figuresOf(driven: Driven, status = 202): Figures {
  const latencies = driven.latencies.get(status) ?? [];
  return {
    perSecond: driven.perSecond.get(status) ?? 0,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    p999: percentile(latencies, 0.999),
    peakBytes: driven.serverPeakBytes,
    cpuMicros: driven.cpuPerAnswer,
    generatorLoad: driven.generatorLoad,
  };
}
