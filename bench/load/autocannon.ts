import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Load } from './request.js';

const AUTOCANNON = fileURLToPath(new URL('../../../node_modules/autocannon/autocannon.js', import.meta.url));

/**
 * Sends the same load with autocannon, as a fixed number of requests.
 * @returns requests a second
 */
export async function autocannon({ url, body, paths, keys, connections }: Load, requests: number): Promise<number> {
  const key = keys[0] === undefined ? [] : ['-H', `authorization=Bearer ${keys[0]}`];
  const what = ['-m', 'POST', '-H', 'content-type=application/json', ...key, '-b', body, url + (paths[0] ?? '')];
  const how = ['--json', '-c', String(connections), '-a', String(requests)];
  const { stdout } = await promisify(execFile)(process.execPath, [AUTOCANNON, ...how, ...what]);
  const { '2xx': accepted, duration } = JSON.parse(stdout) as { '2xx': number; duration: number };
  if (accepted !== requests) throw new Error(`Only ${accepted} of ${requests} autocannon requests were accepted.`);
  return accepted / duration;
}
