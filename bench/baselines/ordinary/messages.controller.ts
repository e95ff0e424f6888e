import { Body, Controller, HttpCode, Inject, Post, Req, Res } from '@nestjs/common';
import type { Queue } from 'bullmq';
import { IsNotEmpty, IsString, MaxLength } from 'class-validator';
import type { FastifyReply } from 'fastify';
import type { Repository } from 'typeorm';
import { Message } from './entities.js';
import type { Authenticated } from './guards.js';

class CreateMessage {
  @IsString()
  @IsNotEmpty()
  @MaxLength(262_144)
  message!: string;
}

@Controller('messages')
export class MessagesController {
  constructor(
    @Inject('messages') private readonly messages: Repository<Message>,
    @Inject('queue') private readonly queue: Pick<Queue, 'add'>,
  ) {}

  @Post()
  @HttpCode(202)
  async create(
    @Body() { message }: CreateMessage,
    @Req() { accountId }: Authenticated,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const saved = await this.messages.save(this.messages.create({ accountId, message, status: 'queued' }));
    await this.queue.add('message', { id: saved.id, accountId, message, createdAt: saved.createdAt });
    reply.header('location', `/messages/${saved.id}`);
    return { id: saved.id, message, status: saved.status, createdAt: saved.createdAt };
  }
}
