/** The load that a generator sends. */
export interface Load {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  /** Used round-robin. */
  readonly paths: readonly string[];
  /** API keys, used round-robin; if empty, no key is sent. */
  readonly keys: readonly string[];
  /** JSON; empty for no body. */
  readonly body: string;
  /** Closed loop: callers that send again when they get a response. Open loop: the maximum of concurrent requests. */
  readonly connections: number;
  /** Open loop: requests a second on a fixed schedule. Null: a closed loop. */
  readonly rate: number | null;
  /** Not measured. */
  readonly warmUpSeconds: number;
  readonly seconds: number;
}

/** The result of one generator. */
export interface GeneratorResult {
  /** All responses by status, including those outside the measured part. */
  readonly responses: Readonly<Record<number, number>>;
  /** Requests without a response: the connection broke or the timeout passed. */
  readonly lost: number;
  /** Open loop: requests that were due in the measured part but never had a free connection. */
  readonly unsent: number;
  /** Duration of the measured part. */
  readonly seconds: number;
  /** Responses received in the measured part, by status. */
  readonly measured: Readonly<Record<number, number>>;
  /**
   * Response times in milliseconds of the requests that were due in the measured part, by status. In an
   * open loop they count from the scheduled time.
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
