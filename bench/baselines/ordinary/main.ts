/**
 * The ordinary stack: what the documentation of NestJS, TypeORM, @nestjs/throttler and BullMQ leads to. It
 * authenticates, limits, stores and queues, but loses the message if the process dies between `save` and `add`.
 *
 * @nestjs/typeorm and @nestjs/bullmq are not installed: the code below creates what they would create.
 * class-transformer is not installed either: its replacement copies one level only and is faster.
 */
import 'reflect-metadata';
import { Module, ValidationPipe } from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { ThrottlerModule } from '@nestjs/throttler';
import { DataSource } from 'typeorm';
import { serve } from '../same-response.js';
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
