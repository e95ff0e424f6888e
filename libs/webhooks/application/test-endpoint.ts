import type { Clock } from '#kernel/clock.js';
import type { Ids } from '#kernel/ids.js';
import { MessageContent } from '#messages/index.js';
import { endpointNotFound } from '../domain/endpoint.js';
import type { Endpoints } from './endpoints.js';
import type { SecretBox } from './secret-box.js';
import type { WebhookClient } from './webhook-client.js';
import { webhookRequest } from './webhook-request.js';

export interface TestResult {
  /** Null when there was no answer: `error` is the reason. */
  readonly status: number | null;
  readonly durationMs: number;
  /** The first KiB of the answer. */
  readonly body: string;
  readonly error: string | null;
}

/** Sends a request of type `test`, enabled or not, and returns what came back. */
export class TestEndpoint {
  constructor(
    private readonly endpoints: Endpoints,
    private readonly box: SecretBox,
    private readonly client: WebhookClient,
    private readonly ids: Ids,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError `endpoint_not_found` */
  async execute(accountId: string, id: string): Promise<TestResult> {
    const [target] = (await this.endpoints.find(accountId, id)) === null ? [] : await this.endpoints.targets([id]);
    if (target === undefined) throw endpointNotFound();
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
}
