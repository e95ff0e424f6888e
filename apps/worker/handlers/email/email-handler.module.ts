import { Module } from '@nestjs/common';
import addressparser from 'nodemailer/lib/addressparser';
import { Environment, MessageHandler } from '#delivery/index.js';
import { EmailHandler } from './email-handler.js';

/** One, since an e-mail that the server rejects for some of its recipients is neither delivered nor failed. */
const ADDRESS = {
  expected: 'one e-mail address',
  parse: (text: string) => (isAddress(text) ? text : undefined),
};

@Module({
  providers: [
    {
      provide: MessageHandler,
      useFactory: (environment: Environment) =>
        new EmailHandler({
          server: environment.url('EMAIL_HANDLER_SERVER', 'the URL of a mail server', ['smtp:', 'smtps:']),
          from: environment.required('EMAIL_HANDLER_FROM', 'the sender address of e-mails', ADDRESS),
          to: environment.required('EMAIL_HANDLER_TO', 'the recipient of e-mails', ADDRESS),
        }),
      inject: [Environment],
    },
  ],
  exports: [MessageHandler],
})
export class EmailHandlerModule {}

/** With a name or without. An `@` in the name is that of a second address: `a@mail.example b@mail.example`. */
function isAddress(text: string): boolean {
  const [one, ...others] = addressparser(text);
  if (one?.address === undefined || others.length > 0) return false;
  return /^[^@<>]+@[^@<>\s]+$/.test(one.address) && !one.name.includes('@');
}
