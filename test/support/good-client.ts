import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { percentile } from '../../bench/report/stats.js';
import { callUndocumented, inTime, type Call } from './http.js';

/** What a well-behaved client saw. */
export interface Experience {
  /** How many responses had each status; 0 stands for no response within a minute. */
  readonly statuses: Readonly<Record<number, number>>;
  /** Response times in milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

const TIMEOUT_MS = 60_000;

/** How many seconds a test with a bad neighbour lasts: more in the long form. */
export const SECONDS = Number(process.env.NEIGHBOUR_SECONDS ?? 2);

/**
 * Sends 20 requests a second on keep-alive connections, without waiting for earlier requests.
 * @param request by default a message
 */
export async function goodClient(url: string, key: string, request: Call = {}, seconds = SECONDS): Promise<Experience> {
  const agent = new Agent({ keepAlive: true });
  const body = '{"message":"hello"}';
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const statuses: Record<number, number> = {};
  const times: number[] = [];
  const send = async () => {
    const begin = performance.now();
    const message = { method: 'POST', path: '/messages', headers, body, agent, ...request };
    const response = inTime(() => callUndocumented(url, message));
    const status = response.then(({ status }) => status).catch(() => 0);
    const code = await Promise.race([status, sleep(TIMEOUT_MS, 0, { ref: false })]);
    statuses[code] = (statuses[code] ?? 0) + 1;
    times.push(performance.now() - begin);
  };
  const sent: Promise<void>[] = [];
  const end = performance.now() + seconds * 1_000;
  while (performance.now() < end) {
    sent.push(send());
    await sleep(50);
  }
  await Promise.all(sent);
  agent.destroy();
  times.sort((a, b) => a - b);
  return { statuses, p50: percentile(times, 0.5), p99: percentile(times, 0.99) };
}
