import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';

interface Received {
  readonly envelope: { readonly from: string; readonly to: readonly string[] };
  /** The e-mail as it was sent. */
  readonly text: string;
}

/** A mail server that keeps what it receives, rejects it, or does not respond. */
export class Mailbox {
  readonly received: Received[] = [];
  private refusal: number | null = null;
  private silent = false;
  private readonly server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    authOptional: true,
    onAuth: (_auth, _session, callback) => {
      callback(Object.assign(new Error('Unknown user'), { responseCode: 535 }));
    },
    onMailFrom: (_address, _session, callback) => {
      if (!this.silent) callback();
    },
    onRcptTo: (_address, _session, callback) => {
      callback(this.refusal === null ? null : Object.assign(new Error('Rejected'), { responseCode: this.refusal }));
    },
    onData: (stream, { envelope }, callback) => {
      void text(stream).then((sent) => {
        const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
        this.received.push({ envelope: { from, to: envelope.rcptTo.map(({ address }) => address) }, text: sent });
        callback();
      });
    },
  });

  static async open(): Promise<Mailbox> {
    const mailbox = new Mailbox();
    // A client that times out resets its connection.
    mailbox.server.on('error', () => undefined);
    await new Promise<void>((resolve) => mailbox.server.listen(0, '127.0.0.1', resolve));
    return mailbox;
  }

  get url(): string {
    return `smtp://127.0.0.1:${(this.server.server.address() as AddressInfo).port}`;
  }

  refuse(code: number): void {
    this.refusal = code;
  }

  fallSilent(): void {
    this.silent = true;
  }

  forget(): void {
    this.received.length = 0;
    this.refusal = null;
    this.silent = false;
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.server.close(resolve);
    });
  }
}
