import type { Tracing } from '#platform/observability/tracing/tracing.js';
import { MessageHandler, type Delivery } from '../../application/message-handler.js';

/** Runs the handler in a span for each attempt, with its outcome but without the text of the message. */
export class TracedHandler extends MessageHandler {
  constructor(
    private readonly handler: MessageHandler,
    private readonly tracing: Tracing,
    private readonly queueName: string,
  ) {
    super();
  }

  async handle(delivery: Delivery, signal: AbortSignal): Promise<void> {
    const span = this.tracing.start({
      kind: 'consumer',
      name: `process ${this.queueName}`,
      parent: delivery.traceparent,
      attributes: {
        'messaging.system': 'bullmq',
        'messaging.operation.type': 'process',
        'messaging.operation.name': 'process',
        'messaging.destination.name': this.queueName,
        'messaging.message.id': delivery.id,
        'sluice.account.id': delivery.accountId,
        'sluice.attempt': delivery.attempt,
      },
    });
    signal.addEventListener(
      'abort',
      () => {
        const timedOut = (signal.reason as Error).name === 'TimeoutError';
        if (timedOut) span.end({ 'sluice.outcome': 'timed out' }, 'timeout');
        else span.end({ 'sluice.outcome': 'handed over' });
      },
      { once: true },
    );
    try {
      await span.run(() => this.handler.handle({ ...delivery, traceparent: span.traceparent }, signal));
      span.end({ 'sluice.outcome': 'delivered' });
    } catch (error) {
      span.end({ 'sluice.outcome': 'failed' }, error instanceof Error ? error.constructor.name : typeof error);
      throw error;
    }
  }
}
