import { ConnectionError } from '#client/index.js';

export interface Readiness {
  readonly status: 'ready' | 'not ready';
  /** Like `{"process": "serving", "database": "up"}`. */
  readonly checks: Readonly<Record<string, string>>;
}

/** Samples by their name and labels as they are written, such as `sluice_queue_jobs{state="waiting"}`. */
export type Samples = ReadonlyMap<string, number>;

/** What the management port says of this process and of the queue. */
export async function readQueue(): Promise<{ samples: Samples; readiness: Readiness }> {
  const [metrics, readiness] = await Promise.all([get('/metrics'), get('/health/ready')]);
  return { samples: samplesOf(await metrics.text()), readiness: (await readiness.json()) as Readiness };
}

async function get(path: string): Promise<Response> {
  try {
    return await fetch(path);
  } catch (cause) {
    throw new ConnectionError({ message: `GET ${path} failed.`, code: 'connection_failed', cause });
  }
}

/** Of the text format of Prometheus, without comments. */
function samplesOf(text: string): Samples {
  const lines = text.matchAll(/^(\w+(?:\{[^}]*\})?) (\S+)$/gm);
  return new Map(Array.from(lines, ([, name = '', value]) => [name, Number(value)]));
}
