import type { Logger } from '#platform/observability/logging.js';
import { traceIdOf } from '#platform/observability/tracing/traceparent.js';
import { MessageHandler, type Delivery } from '../../application/message-handler.js';

/** The default handler: it logs the delivery, but not the message. */
export class LoggingHandler extends MessageHandler {
  constructor(private readonly logger: Logger) {
    super();
  }

  handle({ id, accountId, attempt, traceparent }: Delivery): Promise<void> {
    this.logger.info({ id, accountId, attempt, traceId: traceIdOf(traceparent) }, 'delivered');
    return Promise.resolve();
  }
}
