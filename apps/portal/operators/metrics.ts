import { ConnectionError, ServerError } from '#client/index.js';

const TIME_LIMIT_MS = 10_000;

export interface Readiness {
  readonly status: 'ready' | 'not ready';
  /** Like `{"process": "serving", "database": "up"}`. */
  readonly checks: Readonly<Record<string, string>>;
}

/** Samples by their name and labels as they are written, such as `sluice_queue_jobs{state="waiting"}`. */
export type Samples = ReadonlyMap<string, number>;

/** What the management port says of this process and of the queue. */
export async function readQueue(): Promise<{ samples: Samples; readiness: Readiness }> {
  const [metrics, readiness] = await Promise.all([read('/metrics'), read('/health/ready')]);
  return { samples: samplesOf(metrics), readiness: JSON.parse(readiness) as Readiness };
}

async function read(path: string): Promise<string> {
  const message = `GET ${path} failed`;
  try {
    const response = await fetch(path, { signal: AbortSignal.timeout(TIME_LIMIT_MS) });
    const { status } = response;
    // 503 says that the process is not ready.
    if (status === 200 || status === 503) return await response.text();
    throw new ServerError({ message: `${message}: status ${status}.`, code: 'unexpected_response', status });
  } catch (cause) {
    if (cause instanceof ServerError) throw cause;
    throw new ConnectionError({ message: `${message}.`, code: 'connection_failed', cause });
  }
}

/** Of the text format of Prometheus, without comments. */
function samplesOf(text: string): Samples {
  const lines = text.matchAll(/^(\w+(?:\{[^}]*\})?) (\S+)$/gm);
  return new Map(Array.from(lines, ([, name = '', value]) => [name, Number(value)]));
}
