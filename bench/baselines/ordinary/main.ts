/**
 * The ordinary stack: what one writes from the pages of NestJS, TypeORM, @nestjs/throttler and BullMQ. It stores, it
 * queues, it limits and it knows its callers, and it makes no mistake that its packages' pages would not make: they
 * don't say what happens when the process dies between `save` and `add`.
 *
 * Two packages of those pages are not installed here. @nestjs/typeorm and @nestjs/bullmq only make what is made below
 * by hand. class-transformer turns a body into an instance of its class before it is validated; the stand-in for it
 * copies one level, which is faster, so that this baseline is rather too good.
 */
import 'reflect-metadata';
import { Module, ValidationPipe } from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { ThrottlerModule } from '@nestjs/throttler';
import { DataSource } from 'typeorm';
import { serve } from '../same-answer.js';
import { ApiKey, Message } from './entities.js';
import { AccountThrottlerGuard, ApiKeyGuard, hashOf } from './guards.js';
import { MessagesController } from './messages.controller.js';
import { openQueue } from './queue.js';

const { DATABASE_URL = '', REDIS_URL = '', API_KEY = '' } = process.env;
const LIMIT = 1_000_000_000;

@Module({
  imports: [
    ThrottlerModule.forRoot([
      { name: 'minute', ttl: 60_000, limit: LIMIT },
      { name: 'day', ttl: 86_400_000, limit: LIMIT },
    ]),
  ],
  controllers: [MessagesController],
  providers: [
    {
      provide: DataSource,
      useFactory: () =>
        new DataSource({
          type: 'postgres',
          url: DATABASE_URL,
          entities: [ApiKey, Message],
          synchronize: true,
        }).initialize(),
    },
    { provide: 'messages', useFactory: (source: DataSource) => source.getRepository(Message), inject: [DataSource] },
    { provide: 'queue', useFactory: () => openQueue(REDIS_URL, DATABASE_URL) },
    {
      provide: APP_GUARD,
      useFactory: (source: DataSource) => new ApiKeyGuard(source.getRepository(ApiKey)),
      inject: [DataSource],
    },
    { provide: APP_GUARD, useClass: AccountThrottlerGuard },
  ],
})
class OrdinaryModule {}

function copied<T>(type: new () => T, plain: unknown): T {
  const instance = new type();
  if (typeof plain === 'object') Object.assign(instance as object, plain);
  return instance;
}

const app = await NestFactory.create<NestFastifyApplication>(OrdinaryModule, new FastifyAdapter(), {
  logger: ['error'],
});
app.useGlobalPipes(
  new ValidationPipe({
    transform: true,
    whitelist: true,
    // Only an error that shows the faulty object needs the second.
    transformerPackage: { plainToInstance: copied, classToPlain: (object: unknown) => ({ object }) },
  }),
);
await app
  .get(DataSource)
  .getRepository(ApiKey)
  .save({ hash: hashOf(API_KEY), accountId: 'account' });
await app.init();
await serve(app.getHttpAdapter().getInstance());
