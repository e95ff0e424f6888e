import { createTransport } from 'nodemailer';
import { GiveUp, MessageHandler, type Delivery } from '#messages/index.js';

export interface EmailSettings {
  /** `smtp://` or `smtps://`, with user and password if the server wants them. */
  readonly server: URL;
  readonly from: string;
  readonly to: string;
}

/** Sends each message as an e-mail to one address. */
export class EmailHandler extends MessageHandler {
  constructor(private readonly settings: EmailSettings) {
    super();
  }

  async handle({ id, message, createdAt, deadline }: Delivery): Promise<void> {
    const { server, from, to } = this.settings;
    // nodemailer knows no AbortSignal; a server that is silent until the attempt's time is up is not waited for.
    const timeoutMs = Math.max(1, deadline.getTime() - Date.now());
    const transport = createTransport({
      url: server.href,
      connectionTimeout: timeoutMs,
      greetingTimeout: timeoutMs,
      socketTimeout: timeoutMs,
    });
    try {
      // The same Message-ID in each attempt: a mailbox that has the e-mail already can tell.
      const messageId = `<${id}@${server.hostname}>`;
      await transport.sendMail({ from, to, subject: `Message ${id}`, text: message, date: createdAt, messageId });
    } catch (error) {
      throw failure(error);
    } finally {
      transport.close();
    }
  }
}

/** What the sender is told: no address, no host, and nothing else that the server has said. */
function failure(error: unknown): Error {
  const { code, responseCode = 0 } = error as { code?: string; responseCode?: number };
  if (responseCode === 0) return new Error('The mail server cannot be reached.', { cause: error });
  const reason = `The mail server answered ${responseCode}.`;
  // A 5xx is final where it is said of this e-mail; one to a login is a mistake of ours, to be put right and retried.
  const isFinal = responseCode >= 500 && (code === 'EENVELOPE' || code === 'EMESSAGE');
  return isFinal ? new GiveUp(reason, { cause: error }) : new Error(reason, { cause: error });
}
