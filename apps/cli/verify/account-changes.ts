import { setTimeout as sleep } from 'node:timers/promises';
import { UsageError } from '#platform/process/usage-error.js';
import type { Service } from './service.js';

const PAUSE_MS = 200;
const PATIENCE_MS = 60_000;

interface Undo {
  readonly method: string;
  readonly path: string;
  readonly body?: object;
  /** The command that does the same. */
  readonly command: string;
}

/** What is changed of an account while its messages are verified. */
export class AccountChanges {
  private readonly undos: Undo[] = [];

  constructor(private readonly service: Service) {}

  /**
   * Changes how messages of the account are delivered.
   * @param scopes that the key needs
   */
  async switchDelivery(delivery: string, scopes: readonly string[]): Promise<void> {
    const key = await this.request('GET', '/api-keys/current');
    if (!scopes.every((scope) => (key.scopes as string[]).includes(scope))) {
      throw new UsageError(`With --consume ${delivery}, the key needs the scopes ${scopes.join(' and ')}.`);
    }
    const before = String((await this.request('GET', '/account')).delivery);
    // A change whose response is lost may have been made.
    this.undos.push({
      ...{ method: 'PATCH', path: '/account', body: { delivery: before } },
      command: `sluice delivery ${before}`,
    });
    await this.request('PATCH', '/account', { delivery });
  }

  /** @returns the secret of the endpoint */
  async addEndpoint(url: string): Promise<string> {
    const { id, secret } = await this.request('POST', '/endpoints', { url, description: 'sluice verify' });
    this.undos.push({
      ...{ method: 'DELETE', path: `/endpoints/${String(id)}` },
      command: `sluice endpoints delete ${String(id)}`,
    });
    return String(secret);
  }

  /** @throws UsageError with the reason why there is no result */
  async request(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
    const { status, body: result } = await this.service.send(method, path, body, 0);
    if (status < 300 && result !== null) return result;
    throw new UsageError(`${method} ${path} failed: ${typeof result?.detail === 'string' ? result.detail : status}`);
  }

  /**
   * Restores the account, also if the service is unavailable for a while.
   * @throws UsageError with the commands that remain
   */
  async undo(): Promise<void> {
    const deadline = performance.now() + PATIENCE_MS;
    for (let attempt = 0; ; attempt++) {
      const last = this.undos.at(-1);
      if (last === undefined) return;
      const response = await this.service.send(last.method, last.path, last.body, attempt).catch(() => null);
      // One that was done, but whose response was lost, may find nothing to delete.
      if (response !== null && (response.status < 300 || response.status === 404)) this.undos.pop();
      else if (performance.now() < deadline) await sleep(PAUSE_MS);
      else {
        const commands = this.undos.map(({ command }) => command).reverse();
        throw new UsageError(`The account could not be given back what it had. Run ${commands.join(' and ')}.`);
      }
    }
  }
}
