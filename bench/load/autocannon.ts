import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Load } from './request.js';

const AUTOCANNON = fileURLToPath(new URL('../../../node_modules/autocannon/autocannon.js', import.meta.url));

/** Requests a second that autocannon gets answered: a second opinion on what our generator measures. */
export async function autocannon({ url, body, paths, keys, connections, seconds }: Load): Promise<number> {
  const key = keys[0] === undefined ? [] : ['-H', `authorization=Bearer ${keys[0]}`];
  const what = ['-m', 'POST', '-H', 'content-type=application/json', ...key, '-b', body, url + (paths[0] ?? '')];
  const how = ['--json', '-c', String(connections), '-d', String(Math.max(1, seconds))];
  const { stdout } = await promisify(execFile)(process.execPath, [AUTOCANNON, ...how, ...what]);
  const { '2xx': answered, duration } = JSON.parse(stdout) as { '2xx': number; duration: number };
  return answered / duration;
}
