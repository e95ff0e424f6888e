import { Module } from '@nestjs/common';
import { Environment, MessageHandler } from '#messages/index.js';
import { EmailHandler } from './email-handler.js';

@Module({
  providers: [
    {
      provide: MessageHandler,
      useFactory: (environment: Environment) =>
        new EmailHandler({
          server: environment.url('EMAIL_HANDLER_SERVER', 'the URL of a mail server', ['smtp:', 'smtps:']),
          from: environment.text('EMAIL_HANDLER_FROM', 'the address that e-mails come from'),
          to: environment.text('EMAIL_HANDLER_TO', 'the address that e-mails go to'),
        }),
      inject: [Environment],
    },
  ],
  exports: [MessageHandler],
})
export class EmailHandlerModule {}
