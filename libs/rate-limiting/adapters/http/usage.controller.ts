import { Controller, Get, HttpCode, Post, Req } from '@nestjs/common';
import {
  IsInt,
  IsOptional,
  Max,
  Min,
  Validate,
  ValidatorConstraint,
  type ValidatorConstraintInterface,
} from 'class-validator';
import type { FastifyRequest } from 'fastify';
import { ValidationError } from '#kernel/domain-error.js';
import { GetMessageUsage } from '#messages/index.js';
import { Scoped } from '#platform/http/access/access.js';
import { CurrentCaller, type Caller } from '#platform/http/access/caller.js';
import { JsonBody } from '#platform/http/body/json-body.js';
import { Field, Forms, Operation, Section } from '#platform/http/openapi/operation.js';
import { SharedReads } from '#platform/shared-reads.js';
import { Model } from '#platform/http/openapi/schema.js';
import { Limiter } from '../../application/limiter.js';
import { simulate, simulateSteady } from '../../domain/simulate.js';
import { WINDOW_MS, type WindowName } from '../../domain/windows.js';
import { SIMULATION, USAGE, type SimulatedRequest, type SimulationView, type UsageView } from './usage-views.js';

const MAX_REQUESTS = 10_000;
const MAX_MINUTES = 2 * 24 * 60;
const MAX_STEADY = 1_000_000;
const MAX_AT_MS = 366 * 86_400_000;

@ValidatorConstraint()
class RequestTimes implements ValidatorConstraintInterface {
  static readonly schema = {
    type: 'array',
    minItems: 1,
    maxItems: MAX_REQUESTS,
    items: new Model('ScheduledRequest', {
      type: 'object',
      properties: { at: { type: 'integer', minimum: 0, maximum: MAX_AT_MS } },
      required: ['at'],
    }),
  };

  validate(value: unknown): boolean {
    return (
      Array.isArray(value) &&
      value.length > 0 &&
      value.length <= MAX_REQUESTS &&
      value.every((request: unknown) => {
        const { at } = (request ?? {}) as { at?: unknown };
        return Number.isInteger(at) && (at as number) >= 0 && (at as number) <= MAX_AT_MS;
      })
    );
  }

  defaultMessage(): string {
    return `requests must be 1 to ${MAX_REQUESTS} objects like {"at": 250}, with at from 0 to ${MAX_AT_MS}.`;
  }
}

@Forms({ SimulateScheduleBody: ['requests'], SimulateSteadyRateBody: ['perMinute', 'minutes'] })
class SimulateBody {
  @Field({
    description: 'The time of each request, in milliseconds since the start, in any order.',
    examples: [[{ at: 0 }, { at: 250 }]],
  })
  @IsOptional()
  @Validate(RequestTimes)
  requests?: { at: number }[] | null;

  @Field({ description: 'Instead of `requests`: the number of evenly spread requests per minute.', examples: [70] })
  @IsOptional()
  @IsInt({ message: 'perMinute must be a whole number.' })
  @Min(1, { message: 'perMinute must be at least 1.' })
  @Max(MAX_STEADY, { message: `perMinute must be at most ${MAX_STEADY}.` })
  perMinute?: number | null;

  @Field({ description: `The duration in minutes. At most ${MAX_STEADY} requests in total.`, examples: [3] })
  @IsOptional()
  @IsInt({ message: 'minutes must be a whole number.' })
  @Min(1, { message: 'minutes must be at least 1.' })
  @Max(MAX_MINUTES, { message: `minutes must be at most ${MAX_MINUTES}.` })
  minutes?: number | null;
}

@Section('Account')
@Scoped('account:manage')
@Controller('account')
export class UsageController {
  private readonly shared = new SharedReads();

  constructor(
    private readonly storage: Limiter,
    private readonly getMessageUsage: GetMessageUsage,
  ) {}

  @Get('usage')
  @Operation({
    id: 'getUsage',
    summary: 'Get the usage of the account',
    description:
      'Returns the rate limit windows of the account, its waiting messages and delivery rate, and the storage it uses.',
    response: { description: 'The usage of the account.', body: USAGE },
  })
  usage(@CurrentCaller() { accountId }: Caller): Promise<UsageView> {
    return this.shared.read(accountId, () => this.read(accountId));
  }

  private async read(accountId: string): Promise<UsageView> {
    // The messages first: this read waits for the account's others, so that few reach the limiter's connections at once.
    const messageUsage = await this.getMessageUsage.execute(accountId);
    const { limits, windows, at } = await this.storage.usage(accountId);
    const view = (name: WindowName, limit: number) => {
      const { used, endsAt } = windows[name];
      const resetsAt = new Date(endsAt === 0 ? at + WINDOW_MS[name] : endsAt);
      return { limit, used, remaining: Math.max(0, limit - used), resetsAt };
    };
    return { minute: view('minute', limits.perMinute), day: view('day', limits.perDay), ...messageUsage };
  }

  @Post('simulate')
  @HttpCode(200)
  @Operation({
    id: 'simulateLimits',
    summary: 'Simulate the rate limits',
    description:
      'Returns which requests of a schedule the limits of the account would admit. The schedule is either `requests`, or ' +
      '`perMinute` and `minutes`. Only this request itself counts.',
    response: { description: 'The result, starting with unused windows.', body: SIMULATION },
  })
  simulate(
    @Req() { rateLimit = [] }: FastifyRequest,
    @JsonBody(SimulateBody, 256 * 1_024) { requests, perMinute, minutes }: SimulateBody,
  ): SimulationView {
    const limitOf = (window: WindowName) => rateLimit.find(({ name }) => name === window)?.limit ?? 0;
    const limits = { perMinute: limitOf('minute'), perDay: limitOf('day') };
    if (requests) {
      const verdicts: SimulatedRequest[] = [];
      const times = requests.map(({ at }) => at).sort((a, b) => a - b);
      const result = simulate(times, limits, (at, admitted) => verdicts.push({ at, admitted }));
      return { ...result, limits, requests: verdicts };
    }
    if (!perMinute || !minutes || perMinute * minutes > MAX_STEADY) {
      throw new ValidationError([
        {
          pointer: '',
          detail: `Send requests, or perMinute and minutes with at most ${MAX_STEADY} requests in total.`,
        },
      ]);
    }
    return { ...simulateSteady(perMinute, minutes, limits), limits };
  }
}
