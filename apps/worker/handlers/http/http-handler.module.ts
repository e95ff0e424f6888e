import { Module } from '@nestjs/common';
import { Environment, MessageHandler } from '#delivery/index.js';
import { HttpHandler } from './http-handler.js';

@Module({
  providers: [
    {
      provide: MessageHandler,
      useFactory: (environment: Environment) =>
        new HttpHandler(environment.url('HTTP_HANDLER_URL', 'where to post messages', ['http:', 'https:'])),
      inject: [Environment],
    },
  ],
  exports: [MessageHandler],
})
export class HttpHandlerModule {}
