import type { Clock } from '#kernel/clock.js';
import type { Ids } from '#kernel/ids.js';
import { MessageContent } from '#messages/index.js';
import { endpointNotFound } from '../../domain/endpoint.js';
import { RetryLaterError } from '#kernel/domain-error.js';
import { type Endpoint } from '../../domain/endpoint.js';
import type { Endpoints } from './endpoints.js';
import type { SecretBox } from './secret-box.js';
import type { WebhookClient } from '../sending/webhook-client.js';
import { webhookRequest } from '../sending/webhook-request.js';

export interface TestResult {
  /** Null when there was no answer: `error` is the reason. */
  readonly status: number | null;
  readonly durationMs: number;
  /** The first KiB of the answer. */
  readonly body: string;
  readonly error: string | null;
}

/** Tests that run at the same time in one process: of one account, and of all. Their receivers need not answer. */
export const MAX_TESTS = 4;
const MAX_ALL_TESTS = 32;

/** Sends a request of type `test`, enabled or not, and returns what came back. */
export class TestEndpoint {
  /** Tests that run now, by account. */
  private readonly running = new Map<string, number>();
  private allRunning = 0;

  constructor(
    private readonly endpoints: Endpoints,
    private readonly box: SecretBox,
    private readonly client: WebhookClient,
    private readonly ids: Ids,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError `endpoint_not_found`, or `unavailable` while too many tests run or the endpoint's rate is used up */
  async execute(accountId: string, id: string): Promise<TestResult> {
    const count = this.running.get(accountId) ?? 0;
    if (count >= MAX_TESTS) throw retryLater(`At most ${MAX_TESTS} tests of an account run at the same time.`);
    if (this.allRunning >= MAX_ALL_TESTS) throw retryLater('Too many tests run at the moment.');
    this.running.set(accountId, count + 1);
    this.allRunning++;
    try {
      return await this.run(accountId, id);
    } finally {
      this.allRunning--;
      const left = (this.running.get(accountId) ?? 1) - 1;
      if (left === 0) this.running.delete(accountId);
      else this.running.set(accountId, left);
    }
  }

  private async run(accountId: string, id: string): Promise<TestResult> {
    const [target] = (await this.endpoints.find(accountId, id)) === null ? [] : await this.endpoints.targets([id]);
    if (target === undefined) throw endpointNotFound();
    await this.takeRate(target.endpoint);
    const at = this.clock.now();
    const content = MessageContent.parse({ text: 'This is a test.' }, at);
    const test = { type: 'test', id: this.ids.next('msg', at), content, createdAt: at, traceparent: null } as const;
    const request = webhookRequest(this.box, target, test, at);
    const startedAt = performance.now();
    const { error, ...answer } = await this.client.post(request).then(
      (received) => ({ ...received, error: null }),
      (failure: unknown) => ({ status: null, body: '', error: (failure as Error).message }),
    );
    const durationMs = Math.round(performance.now() - startedAt);
    return { status: answer.status, durationMs, body: answer.body, error };
  }

  private async takeRate({ id, rateLimitPerSecond }: Endpoint): Promise<void> {
    if (rateLimitPerSecond === 0) return;
    const granted = await this.endpoints.takeRate(new Map([[id, 1]]));
    if (granted.get(id)?.count !== 1)
      throw retryLater('The endpoint gets as many requests as its rateLimitPerSecond allows.');
  }
}

function retryLater(why: string): RetryLaterError {
  return new RetryLaterError('unavailable', `${why} Repeat the test later.`, 1);
}
