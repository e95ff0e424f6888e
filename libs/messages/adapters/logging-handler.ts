import type { Logger } from '#platform/logging.js';
import { MessageHandler, type Delivery } from '../application/message-handler.js';

/** What a worker does until somebody gives it something better to do: it logs the delivery, not the message. */
export class LoggingHandler extends MessageHandler {
  constructor(private readonly logger: Logger) {
    super();
  }

  handle({ id, accountId, attempt }: Delivery): Promise<void> {
    this.logger.info({ id, accountId, attempt }, 'delivered');
    return Promise.resolve();
  }
}
