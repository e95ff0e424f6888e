import { Module } from '@nestjs/common';
import { Environment, MessageHandler } from '#delivery/index.js';
import { EmailHandler } from './email-handler.js';

@Module({
  providers: [
    {
      provide: MessageHandler,
      useFactory: (environment: Environment) =>
        new EmailHandler({
          server: environment.url('EMAIL_HANDLER_SERVER', 'the URL of a mail server', ['smtp:', 'smtps:']),
          from: environment.text('EMAIL_HANDLER_FROM', 'the sender address of e-mails'),
          to: environment.text('EMAIL_HANDLER_TO', 'the recipient of e-mails'),
        }),
      inject: [Environment],
    },
  ],
  exports: [MessageHandler],
})
export class EmailHandlerModule {}
