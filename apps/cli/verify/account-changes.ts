import { setTimeout as sleep } from 'node:timers/promises';
import { UsageError } from '#platform/process/usage-error.js';
import { EXIT } from '../support/exit-codes.js';
import type { Before, Ledger } from './ledger.js';
import type { Service, ServiceResponse } from './service.js';

const PAUSE_MS = 200;
const PATIENCE_MS = 60_000;

/** What is changed of an account while its messages are verified. */
export class AccountChanges {
  private delivery = '';

  /** @param note says at the end of the process what the account was not given back, whatever ends it */
  constructor(
    private readonly service: Service,
    private readonly ledger: Ledger,
    note: (line: string) => void,
  ) {
    process.once('exit', () => {
      if (ledger.changes.length === 0) return;
      const commands = ledger.changes.map(commandFor).reverse();
      note(`The account was not given back what it had. Run ${commands.join(' and ')}.`);
      if (process.exitCode === EXIT.ok) process.exitCode = EXIT.usage;
    });
  }

  /**
   * Changes how messages of the account are delivered.
   * @param scopes that the key needs
   */
  async switchDelivery(delivery: string, scopes: readonly string[]): Promise<void> {
    const key = await this.request('GET', '/api-keys/current');
    if (!scopes.every((scope) => (key.scopes as string[]).includes(scope))) {
      throw new UsageError(`With --consume ${delivery}, the key needs the scopes ${scopes.join(' and ')}.`);
    }
    // A change whose response is lost may have been made.
    this.ledger.changed({ delivery: String((await this.request('GET', '/account')).delivery) });
    await this.request('PATCH', '/account', { delivery });
    this.delivery = delivery;
  }

  /** @returns the secret of the endpoint */
  async addEndpoint(url: string): Promise<string> {
    const { id, secret } = await this.request('POST', '/endpoints', { url, description: 'sluice verify' });
    this.ledger.changed({ endpointId: String(id) });
    return String(secret);
  }

  /** @throws UsageError with the reason why there is no result */
  async request(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
    const { status, body: result } = await this.service.send(method, path, body, 0);
    if (status < 300 && result !== null) return result;
    throw new UsageError(`${method} ${path} failed: ${typeof result?.detail === 'string' ? result.detail : status}`);
  }

  /** Whether the delivery mode is still the one that was chosen. Otherwise, others may have had messages. */
  async isDeliveryKept(): Promise<boolean> {
    return (await this.insist('GET', '/account'))?.body?.delivery === this.delivery;
  }

  /** Restores the account, also if the service is unavailable for a while. */
  async undo(): Promise<void> {
    for (let last = this.ledger.changes.at(-1); last !== undefined; last = this.ledger.changes.at(-1)) {
      const response = await ('delivery' in last
        ? this.insist('PATCH', '/account', last)
        : this.insist('DELETE', `/endpoints/${last.endpointId}`));
      // One that was done, but whose response was lost, may find nothing to delete.
      if (response === null || (response.status >= 300 && response.status !== 404)) return;
      this.ledger.restored();
    }
  }

  /** @returns the first response that is neither a failure nor asks to try again later; null if there is none in time */
  private async insist(method: string, path: string, body?: object): Promise<ServiceResponse | null> {
    const deadline = performance.now() + PATIENCE_MS;
    for (let attempt = 0; performance.now() < deadline; attempt++) {
      const response = await this.service.send(method, path, body, attempt).catch(() => null);
      if (response !== null && response.status < 500 && response.status !== 429) return response;
      await sleep(PAUSE_MS);
    }
    return null;
  }
}

function commandFor(before: Before): string {
  return 'delivery' in before ? `sluice delivery ${before.delivery}` : `sluice endpoints delete ${before.endpointId}`;
}
