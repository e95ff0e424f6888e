/** What a load generator is told to do. */
export interface Load {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  /** Taken in turn. */
  readonly paths: readonly string[];
  /** API keys, taken in turn; without any, no key is sent. */
  readonly keys: readonly string[];
  /** JSON; empty for none. */
  readonly body: string;
  /** Callers that wait for their answer before they ask again; in an open loop, the most that wait at the same time. */
  readonly connections: number;
  /** Requests a second on schedule, whatever becomes of those before: an open loop. Null: a closed loop. */
  readonly rate: number | null;
  /** Not measured. */
  readonly warmUpSeconds: number;
  readonly seconds: number;
}

/** What a generator tells when it is done. */
export interface Loaded {
  /** Answers in all, also those that were not measured, by status. */
  readonly answers: Readonly<Record<number, number>>;
  /** Requests without an answer: the connection broke, or it took too long. */
  readonly lost: number;
  /** Requests that were due in the measured part and for which no connection was ever free: an open loop has such. */
  readonly unsent: number;
  /** How long the measured part was. */
  readonly seconds: number;
  /** Answers that came in the measured part, by status. */
  readonly measured: Readonly<Record<number, number>>;
  /**
   * Milliseconds to the answer of each request that was due in the measured part, by status, whenever it came. In an
   * open loop they count from the schedule.
   */
  readonly latencies: Readonly<Record<number, Float64Array>>;
  /** CPU time of the generator in the measured part. */
  readonly cpuMicros: number;
}

/** The bytes of request number n. */
export function requestsOf({ url, method, paths, keys, body }: Load): (n: number) => Buffer {
  const bytes = Buffer.from(body);
  const type = body === '' ? '' : `Content-Type: application/json\r\nContent-Length: ${bytes.length}\r\n`;
  const { host } = new URL(url);
  const made = (path: string, key: string | undefined): Buffer => {
    const authorization = key === undefined ? '' : `Authorization: Bearer ${key}\r\n`;
    const head = `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\n${authorization}${type}\r\n`;
    return Buffer.concat([Buffer.from(head, 'latin1'), bytes]);
  };
  if (paths.length === 1 && keys.length <= 1) {
    const only = made(paths[0] ?? '/', keys[0]);
    return () => only;
  }
  return (n) => made(paths[n % paths.length] ?? '/', keys[n % keys.length]);
}
