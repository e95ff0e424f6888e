import { Controller, HttpCode, Param, Post, Req, Res, UseGuards } from '@nestjs/common';
import { IsInt, IsOptional, Max, Min, Validate } from 'class-validator';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '#kernel/caller.js';
import { Scoped } from '#platform/http/access/access.js';
import { CurrentCaller } from '#platform/http/access/caller.js';
import { REPEATABLE, Repeats } from '#platform/http/access/repeats.js';
import { JsonBody, OptionalJsonBody } from '#platform/http/body/json-body.js';
import { Time } from '#platform/http/body/time.js';
import { goneSignal } from '#platform/http/edge/connections.js';
import { Field, KnownFieldsOnly, Operation, Section } from '#platform/http/openapi/operation.js';
import { RotateSecret } from '../../application/endpoints/rotate-secret.js';
import { MAX_TESTS, TestEndpoint } from '../../application/endpoints/test-endpoint.js';
import { MAX_REPLAYED, REPLAYED_PER_SECOND, ReplayEndpoint } from '../../application/replay-endpoint.js';
import { MAX_GRACE_SECONDS } from '../../domain/endpoint.js';
import { ENDPOINT_ID, ISSUED_SECRET, issuedSecretView, REPLAYED, replayedView, TEST_RESULT } from './views.js';
import { WebhooksEnabledGuard } from './webhooks-enabled.guard.js';

class RotateSecretBody {
  @Field({
    description: 'Seconds for which the old secret signs as well, so that receivers can change theirs. Defaults to 0.',
    examples: [86_400],
  })
  @IsOptional()
  @IsInt({ message: 'graceSeconds must be a whole number.' })
  @Min(0, { message: 'graceSeconds must not be negative.' })
  @Max(MAX_GRACE_SECONDS, { message: `graceSeconds must be at most ${MAX_GRACE_SECONDS}.` })
  graceSeconds?: number | null;
}

@KnownFieldsOnly()
class ReplayBody {
  @Field({ description: 'The start of the period, inclusive.', examples: ['2026-11-21T09:00:00Z'] })
  @Validate(Time)
  since!: string;

  @Field({ description: 'The end of the period, exclusive. Defaults to now.', examples: ['2026-11-21T10:00:00Z'] })
  @IsOptional()
  @Validate(Time)
  until?: string | null;
}

/** What is done with an endpoint, apart from changing it. */
@Section('Webhooks')
@Scoped('account:manage')
@UseGuards(WebhooksEnabledGuard)
@Controller('endpoints')
export class EndpointActionsController {
  constructor(
    private readonly rotateSecret: RotateSecret,
    private readonly testEndpoint: TestEndpoint,
    private readonly replayEndpoint: ReplayEndpoint,
    private readonly repeats: Repeats,
  ) {}

  @Post(':id/rotate-secret')
  @HttpCode(200)
  @Operation({
    id: 'rotateSecret',
    summary: 'Rotate the secret of an endpoint',
    description:
      'Requests are signed with the new secret within a second, and with the old one as well during the grace: with the ' +
      'five newest secrets at most.',
    path: { id: ENDPOINT_ID },
    headers: REPEATABLE.headers,
    response: {
      description: 'The new secret, which is shown only once, but to requests that are repeated with their key.',
      body: ISSUED_SECRET,
      headers: REPEATABLE.responseHeaders,
    },
    errors: ['endpoint_not_found', 'webhooks_disabled', ...REPEATABLE.errors],
  })
  async rotate(
    @CurrentCaller() { accountId }: Caller,
    @Param('id') id: string,
    @OptionalJsonBody(RotateSecretBody) body: RotateSecretBody,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<object> {
    return this.repeats.atomically({ request, reply, body }, async () =>
      issuedSecretView(await this.rotateSecret.execute(accountId, id, body.graceSeconds ?? 0)),
    );
  }

  @Post(':id/test')
  @HttpCode(200)
  @Operation({
    id: 'testEndpoint',
    summary: 'Test an endpoint',
    description:
      'Posts a signed test to the endpoint, of the type `test` instead of `message`, and returns what it answered. ' +
      'Nothing is stored, and a failure has no effect. It counts against the rate of the endpoint. At most ' +
      `${MAX_TESTS} tests of an account run at the same time in each process: more get 503 with \`Retry-After\`.`,
    path: { id: ENDPOINT_ID },
    response: { description: 'What the endpoint answered.', body: TEST_RESULT },
    errors: ['endpoint_not_found', 'webhooks_disabled'],
  })
  async test(@CurrentCaller() { accountId }: Caller, @Param('id') id: string): Promise<object> {
    return this.testEndpoint.execute(accountId, id);
  }

  @Post(':id/replay')
  @HttpCode(202)
  @Operation({
    id: 'replayEndpoint',
    summary: 'Replay messages to an endpoint',
    description:
      'Posts the messages of a period to the endpoint that it has not got, because it failed, was disabled or did not exist ' +
      'yet: at most about ' +
      `${MAX_REPLAYED}, so many in each second as the rate of the endpoint allows, or else ${REPLAYED_PER_SECOND}. ` +
      'Repeat it for more. ' +
      `Failed messages are retried for this endpoint; delivered ones stay delivered. Cancelled ones are not posted.`,
    path: { id: ENDPOINT_ID },
    headers: REPEATABLE.headers,
    response: {
      description: 'How many messages will be posted.',
      body: REPLAYED,
      headers: REPEATABLE.responseHeaders,
    },
    errors: ['endpoint_not_found', 'endpoint_disabled', 'storage_full', 'webhooks_disabled', ...REPEATABLE.errors],
  })
  async replay(
    @CurrentCaller() { accountId }: Caller,
    @Param('id') id: string,
    @JsonBody(ReplayBody) body: ReplayBody,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<object> {
    const { since, until = null } = body;
    const end = until === null ? null : new Date(until);
    const gone = goneSignal(request, reply);
    return this.repeats.afterwards({ request, reply, body }, async () =>
      replayedView(await this.replayEndpoint.execute(accountId, id, new Date(since), end, gone)),
    );
  }
}
