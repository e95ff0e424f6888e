import { callUndocumented } from './http.js';

/** The samples of a process, by their name and labels as they are written. */
export async function metricsOf(managementUrl: string): Promise<Map<string, number>> {
  const response = await callUndocumented(managementUrl, { path: '/metrics' });
  if (response.status !== 200) throw new Error(`The response is ${response.status}.`);
  const samples = response.bytes
    .toString()
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))] as const);
  return new Map(samples);
}

/** For how many milliseconds the event loop was blocked at most since the last call. */
export async function eventLoopLagMs(managementUrl: string): Promise<number> {
  const lag = (await metricsOf(managementUrl)).get('nodejs_eventloop_lag_max_seconds') ?? NaN;
  return Math.round(lag * 1_000);
}
