import type { Clock } from '#kernel/clock.js';
import type { Message } from '../../domain/message.js';
import { messageNotFound } from '../read-messages.js';
import type { JobDispatch } from '../delivering/job-dispatch.js';
import type { Messages } from '../messages.js';

/** Cancels a message that no worker has started to process. */
export class CancelMessage {
  constructor(
    private readonly messages: Messages,
    private readonly jobs: Pick<JobDispatch, 'remove'>,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError `message_not_found` or `invalid_transition` */
  async execute(accountId: string, id: string): Promise<Message> {
    const message = await this.messages.change(accountId, id, (current) => current.cancel(this.clock.now()));
    if (message === null) throw messageNotFound();
    // Only saves work: a worker that takes the job anyway finds the message cancelled and skips it.
    if (message.hasJob) await this.jobs.remove(message.jobId).catch(() => undefined);
    return message;
  }
}
