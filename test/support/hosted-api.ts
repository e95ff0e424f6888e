import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';

export type Settings = Readonly<Record<string, string>>;

export interface Started {
  readonly url: string;
  readonly managementUrl: string;
}

interface HostedApi extends Started {
  readonly environment: Settings;
  readonly stop: () => Promise<void>;
}

/** The API that all tests of a Jest worker share. */
interface Shared extends Started {
  /** The process that runs APIs for this worker, see api-host.mjs. */
  readonly host: string;
  readonly environment: Settings;
}

const WORKERS = JSON.parse(process.env.TEST_APIS ?? '[]') as readonly Shared[];
const SHARED = WORKERS[(Number(process.env.JEST_WORKER_ID ?? 1) - 1) % WORKERS.length];
if (SHARED === undefined) throw new Error('No API for tests: start them with npm test.');
const { host, ...shared } = SHARED;

export { shared };

/** Starts an API; it logs into a file, whose path is in its environment, unless LOG_LEVEL is `silent`. */
export async function startHosted(settings: Settings): Promise<HostedApi> {
  const file = join(process.env.TEST_FOLDER ?? '', `${randomBytes(8).toString('hex')}.log`);
  const environment = { ...settings, ...(settings.LOG_LEVEL === 'silent' ? {} : { LOG_FILE: file }) };
  const { id, ...started } = await ask('POST', '/', JSON.stringify(environment));
  const stop = async () => {
    await ask('DELETE', `/${id}`);
    await rm(file, { force: true });
  };
  return { ...started, environment, stop };
}

async function ask(method: string, path: string, body: string | null = null): Promise<Started & { id: number }> {
  const response = await fetch(new URL(path, host), { method, body });
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as Started & { id: number };
}
