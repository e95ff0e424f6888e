import { GiveUp } from '#delivery/index.js';
import { Mailbox } from '../../../../test/support/mailbox.js';
import { aDelivery } from '../../../../test/support/messages.js';
import { EmailHandler } from './email-handler.js';

const { from, to } = { from: 'sluice@sender.example', to: 'people@receiver.example' };
const sent = { id: 'msg_1', message: 'Grüße', createdAt: new Date('2026-11-21T09:30:00Z') };

describe('EmailHandler', () => {
  let mailbox: Mailbox;
  beforeAll(async () => {
    mailbox = await Mailbox.open();
  });
  beforeEach(() => {
    mailbox.forget();
  });
  afterAll(() => mailbox.close());

  const handle = (server = mailbox.url, ms = 30_000) =>
    new EmailHandler({ server: new URL(server), from, to }).handle(
      aDelivery({ ...sent, deadline: new Date(Date.now() + ms) }),
    );
  const failure = (server?: string, ms?: number) =>
    handle(server, ms).then(
      () => null,
      (error: unknown) => error as Error,
    );

  it('sends the message with the same id in each attempt', async () => {
    await handle();
    await handle();
    expect(mailbox.received).toHaveLength(2);
    for (const { envelope, text } of mailbox.received) {
      expect(envelope).toEqual({ from, to: [to] });
      expect(text).toContain('Message-ID: <msg_1@127.0.0.1>');
      expect(text).toContain('Subject: Message msg_1');
      expect(text).toContain('Date: Sat, 21 Nov 2026 09:30:00');
      expect(text).toContain('Gr=C3=BC=C3=9Fe');
    }
  });

  it('fails the message if the server rejects the e-mail permanently', async () => {
    mailbox.refuse(550);
    const error = await failure();
    expect(error).toBeInstanceOf(GiveUp);
    expect(error?.message).toBe('The mail server returned 550.');
  });

  it('fails the attempt if the server rejects it temporarily', async () => {
    mailbox.refuse(451);
    const error = await failure();
    expect(error).not.toBeInstanceOf(GiveUp);
    expect(error?.message).toBe('The mail server returned 451.');
  });

  it('fails the attempt if the server rejects the login', async () => {
    const error = await failure(mailbox.url.replace('//', '//user:secret@'));
    expect(error).not.toBeInstanceOf(GiveUp);
    expect(error?.message).toBe('The mail server returned 535.');
  });

  it('fails the attempt if the server is unreachable or does not respond', async () => {
    expect((await failure('smtp://127.0.0.1:1'))?.message).toBe('The mail server cannot be reached.');
    mailbox.fallSilent();
    expect((await failure(mailbox.url, 200))?.message).toBe('The mail server cannot be reached.');
  });
});
