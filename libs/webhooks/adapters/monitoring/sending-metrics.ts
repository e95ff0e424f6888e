import type { Logger } from '#platform/observability/logging.js';
import type { Metrics } from '#platform/observability/metrics.js';
import type { AttemptEnd, SendingObserver } from '../../application/sending/deliver-webhook.js';
import { AUTOMATIC_REASONS, type AutomaticReason, type Endpoint } from '../../domain/endpoint.js';

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60];
const ENDS: readonly AttemptEnd[] = ['delivered', 'retried', 'failed'];

export class SendingMetrics implements SendingObserver {
  private readonly ends;
  private readonly durations;
  private readonly disablings;
  private readonly missingKeys = new Set<string>();

  constructor(
    metrics: Metrics,
    private readonly logger: Logger,
  ) {
    this.ends = metrics.counters(
      'sluice_webhook_attempts_total',
      'Attempts to deliver a message to an endpoint, by outcome',
      'outcome',
      ENDS,
    );
    this.durations = metrics.histogram('sluice_webhook_duration_seconds', 'Duration of requests to endpoints', SECONDS);
    this.disablings = metrics.counters(
      'sluice_webhook_endpoints_disabled_total',
      'Endpoints that were disabled, by reason',
      'reason',
      AUTOMATIC_REASONS,
    );
  }

  attempted(outcome: AttemptEnd): void {
    this.ends[outcome].add();
  }

  requested(ms: number): void {
    this.durations.observe(ms / 1_000);
  }

  disabled(reason: AutomaticReason, { id, accountId }: Endpoint): void {
    this.disablings[reason].add();
    this.logger.warn({ endpoint: id, account: accountId, reason }, 'endpoint disabled');
  }

  failed(error: unknown): void {
    this.logger.warn({ err: error }, 'webhooks could not be sent and will be repeated');
  }

  lacksKey(keyId: string): void {
    if (this.missingKeys.has(keyId)) return;
    this.missingKeys.add(keyId);
    this.logger.error(
      { key: keyId },
      'SECRETS_KEY lacks a key of endpoints: their deliveries wait for a worker that has it. Set it, and restart this one',
    );
  }
}
