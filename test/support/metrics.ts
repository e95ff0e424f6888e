import { callUndocumented } from './http.js';

/** What a process tells of itself: its samples, by their name and labels as they are written. */
export async function metricsOf(managementUrl: string): Promise<Map<string, number>> {
  const answer = await callUndocumented(managementUrl, { path: '/metrics' });
  if (answer.status !== 200) throw new Error(`It was answered ${answer.status}.`);
  const samples = answer.bytes
    .toString()
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))] as const);
  return new Map(samples);
}
