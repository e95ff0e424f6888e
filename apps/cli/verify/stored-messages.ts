import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from '#client/index.js';
import { UsageError } from '#platform/process/usage-error.js';
import type { Ledger } from './ledger.js';
import { reasonOf, type MessageView, type Service } from './service.js';
import type { Throttle } from './throttle.js';

/** How long the service may be unavailable while the messages are listed. */
const PATIENCE_MS = 60_000;
const HOUR_MS = 3_600_000;

type MessagePage = Page<MessageView & { readonly createdAt: string }>;

/** The stored messages of a run. Methods throw a UsageError when they cannot be listed. */
export class StoredMessages {
  constructor(
    private readonly service: Service,
    private readonly throttle: Throttle,
    private readonly ledger: Ledger,
  ) {}

  async read(): Promise<MessageView[]> {
    // One hour more than the run lasted, for clock differences.
    const oldest = this.ledger.begunAt.getTime() - HOUR_MS;
    const messages: MessageView[] = [];
    let cursor: string | null = null;
    do {
      const page = await this.page(`limit=100${cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`}`);
      messages.push(...page.data.filter(({ message }) => this.ledger.numberOf(message) !== null));
      const last = page.data.at(-1);
      cursor = last === undefined || Date.parse(last.createdAt) < oldest ? null : page.nextCursor;
    } while (cursor !== null);
    return messages;
  }

  async anyOpen(): Promise<boolean> {
    const pages = await Promise.all(['queued', 'processing'].map((status) => this.page(`limit=100&status=${status}`)));
    return pages.some(({ data }) => data.some(({ message }) => this.ledger.numberOf(message) !== null));
  }

  private async page(query: string): Promise<MessagePage> {
    const deadline = performance.now() + PATIENCE_MS;
    for (let attempt = 0; ; attempt++) {
      // The window of a limit may be longer than PATIENCE_MS.
      if (!(await this.throttle.acquire(performance.now() + HOUR_MS))) {
        throw new UsageError('The limit of the account leaves no request to list the stored messages.');
      }
      const response = await this.service.get(`/messages?${query}`, attempt).catch(reasonOf);
      const isFailure = typeof response === 'string';
      this.throttle.release(isFailure ? null : response);
      if (!isFailure && response.status === 200) return response.body as unknown as MessagePage;
      if (!isFailure && response.status === 429) continue;
      const result = isFailure ? response : `${response.status} ${String(response.body?.code)}`;
      if (performance.now() > deadline || result.startsWith('4')) {
        throw new UsageError(`The stored messages could not be listed: GET /messages returned ${result}.`);
      }
      await sleep(200);
    }
  }
}

export function isOpen({ status }: MessageView): boolean {
  return status === 'queued' || status === 'processing';
}
