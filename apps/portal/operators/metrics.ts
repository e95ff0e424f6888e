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
  const [samples, readiness] = await Promise.all([
    read('/metrics', samplesOf),
    // 503 says that the process is not ready.
    read('/health/ready', readinessOf, [200, 503]),
  ]);
  return { samples, readiness };
}

async function read<T>(path: string, parse: (text: string) => T, statuses = [200]): Promise<T> {
  const message = `GET ${path} failed`;
  try {
    const response = await fetch(path, { signal: AbortSignal.timeout(TIME_LIMIT_MS) });
    const { status } = response;
    const text = await response.text();
    try {
      if (statuses.includes(status)) return parse(text);
    } catch {
      // A proxy responded.
    }
    throw new ServerError({ message: `${message}: status ${status}.`, code: 'unexpected_response', status });
  } catch (cause) {
    if (cause instanceof ServerError) throw cause;
    throw new ConnectionError({ message: `${message}.`, code: 'connection_failed', cause });
  }
}

function readinessOf(text: string): Readiness {
  const readiness = JSON.parse(text) as Readiness;
  if (Object.keys(readiness.checks).length === 0) throw new TypeError('It lacks what readiness has.');
  return readiness;
}

/** Of the text format of Prometheus, without comments. */
function samplesOf(text: string): Samples {
  const lines = text.matchAll(/^(\w+(?:\{[^}]*\})?) (\S+)$/gm);
  return new Map(Array.from(lines, ([, name = '', value]) => [name, Number(value)]));
}
