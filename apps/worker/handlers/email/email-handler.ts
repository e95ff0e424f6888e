import { createTransport } from 'nodemailer';
import { GiveUp, MessageHandler, type Delivery } from '#delivery/index.js';

interface EmailSettings {
  /** `smtp://` or `smtps://`, with user and password if required. */
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
    // nodemailer does not support AbortSignal, so its timeouts enforce the deadline.
    const timeoutMs = Math.max(1, deadline.getTime() - Date.now());
    const transport = createTransport({
      url: server.href,
      connectionTimeout: timeoutMs,
      greetingTimeout: timeoutMs,
      socketTimeout: timeoutMs,
    });
    try {
      // The same Message-ID in each attempt lets mailboxes detect duplicates.
      const messageId = `<${id}@${server.hostname}>`;
      await transport.sendMail({ from, to, subject: `Message ${id}`, text: message, date: createdAt, messageId });
    } catch (error) {
      throw failure(error);
    } finally {
      transport.close();
    }
  }
}

/** The sender can read the reason, so it must not contain addresses, hosts or texts of the server. */
function failure(error: unknown): Error {
  const { code, responseCode = 0 } = error as { code?: string; responseCode?: number };
  if (responseCode === 0) return new Error('The mail server cannot be reached.', { cause: error });
  const reason = `The mail server returned ${responseCode}.`;
  // A 5xx is final if it concerns this e-mail; one to a login is a configuration error that operators can fix.
  const isFinal = responseCode >= 500 && (code === 'EENVELOPE' || code === 'EMESSAGE');
  return isFinal ? new GiveUp(reason, { cause: error }) : new Error(reason, { cause: error });
}
