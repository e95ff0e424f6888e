import { readFileSync } from 'node:fs';
import { UsageError } from '#platform/process/usage-error.js';

/** Another system, as its file describes it. It runs already. */
export interface Rival {
  readonly name: string;
  /** Where messages are sent to by POST. */
  readonly origin: string;
  readonly path: string;
  /** The bearer token, if it has one. */
  readonly key: string | undefined;
  /** JSON. */
  readonly body: string;
  /** The status of a response to an accepted message. */
  readonly status: number;
  /** The header that identifies a message at the receiver. */
  readonly idHeader: string;
  /** Process ids by name. */
  readonly processes: Readonly<Record<string, number>>;
}

/** @throws UsageError */
export function readRival(file: string): Rival {
  try {
    const given = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
    const { name, url, key, body, status = 202, idHeader = 'webhook-id', processes = {} } = given;
    const { origin, pathname, search } = new URL(String(url));
    const pids = Object.values(processes as Record<string, unknown>);
    if (
      [name, idHeader, key ?? ''].some((value) => typeof value !== 'string') ||
      body === undefined ||
      ![status, ...pids].every((value) => Number.isInteger(value))
    )
      throw new Error('its name, idHeader and key must be strings, its body JSON, its status and process ids integers');
    return {
      name: String(name),
      origin,
      path: pathname + search,
      key: key as string | undefined,
      body: JSON.stringify(body),
      status: Number(status),
      idHeader: String(idHeader).toLowerCase(),
      processes: processes as Record<string, number>,
    };
  } catch (error) {
    throw new UsageError(`${file} does not describe a rival: ${(error as Error).message}.`);
  }
}
