import { Controller, Delete, Get, HttpCode, Param, Put, Query, Req, Res } from '@nestjs/common';
import {
  IsInt,
  IsOptional,
  Max,
  Min,
  Validate,
  ValidatorConstraint,
  type ValidatorConstraintInterface,
} from 'class-validator';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ValidationError } from '#kernel/domain-error.js';
import type { Limits } from '#kernel/limits.js';
import type { Page } from '#kernel/page.js';
import { ForOperators } from '#platform/http/access/access.js';
import { CurrentOperator } from '#platform/http/access/caller.js';
import { REPEATABLE, Repeats } from '#platform/http/access/repeats.js';
import { JsonBody } from '#platform/http/body/json-body.js';
import { pageOf, PAGING, readPage, type PageView } from '#platform/http/body/paging.js';
import { Field, header, Operation, Section } from '#platform/http/openapi/operation.js';
import { Audit, difference } from '../../application/audit.js';
import { Plans, type Expected, type UsedPlan } from '../../application/plans.js';
import { MAX_PLAN_ENDPOINTS, PLAN_NAME, planNotFound } from '../../domain/plan.js';
import { limitsError } from '../../domain/request-limits.js';
import { PLAN_NAME_SCHEMA, PLAN_PAGE, PLAN_VIEW, planView, TERMS, termsView } from './plan-views.js';

@ValidatorConstraint()
class ValidPlanLimits implements ValidatorConstraintInterface {
  // The schema is that of the field.
  static readonly schema = {};

  validate(value: unknown): boolean {
    return value === null || limitsError(value) === null;
  }

  defaultMessage(): string {
    return `${(limitsError(undefined) ?? '').slice(0, -1)}, or be null: agreed with each account.`;
  }
}

class PutPlanBody {
  @Field(TERMS.limits as never)
  @Validate(ValidPlanLimits)
  limits!: Limits | null;

  @Field(TERMS.maxStoredBytes as never)
  @IsOptional()
  @IsInt({ message: 'maxStoredBytes must be a whole number or null.' })
  @Min(1, { message: 'maxStoredBytes must be at least 1.' })
  @Max(Number.MAX_SAFE_INTEGER, { message: `maxStoredBytes must be at most ${Number.MAX_SAFE_INTEGER}.` })
  maxStoredBytes?: number | null;

  @Field(TERMS.maxEndpoints as never)
  @IsOptional()
  @IsInt({ message: 'maxEndpoints must be a whole number or null.' })
  @Min(0, { message: 'maxEndpoints must be at least 0.' })
  @Max(MAX_PLAN_ENDPOINTS, { message: `maxEndpoints must be at most ${MAX_PLAN_ENDPOINTS}.` })
  maxEndpoints?: number | null;
}

const ETAG = { ETag: header('The version of the plan, for `If-Match`.', { type: 'string', examples: ['"1"'] }) };
const IF_MATCH = {
  'If-Match': {
    type: 'string',
    description: 'The `ETag` that the plan must still have; otherwise nothing changes, and the response is 412.',
    examples: ['"1"'],
  },
};

@Section('Operators')
@ForOperators()
@Controller('admin/plans')
export class PlansController {
  constructor(
    private readonly plans: Plans,
    private readonly audit: Audit,
    private readonly repeats: Repeats,
  ) {}

  @Get()
  @Operation({
    id: 'listPlans',
    summary: 'List plans',
    description: 'Returns all plans by name, with the number of accounts that have them.',
    query: PAGING,
    response: { description: 'A page of plans.', body: PLAN_PAGE },
  })
  async list(@Query() query: Record<string, unknown>): Promise<PageView<object>> {
    const page = readPage(query, (name) => PLAN_NAME.test(name));
    const find = (next: Page) => this.plans.list(next);
    return pageOf(page, find, ({ name }) => name, planView);
  }

  @Get(':name')
  @Operation({
    id: 'getPlan',
    summary: 'Get a plan',
    description:
      'Returns the plan with the number of accounts that have it, and the `ETag` for a change of this version.',
    path: { name: PLAN_NAME_SCHEMA },
    response: { description: 'The plan.', body: PLAN_VIEW, headers: ETAG },
    errors: ['plan_not_found'],
  })
  async get(@Param('name') name: string, @Res({ passthrough: true }) reply: FastifyReply): Promise<object> {
    const plan = await this.plans.get(name);
    if (plan === null) throw planNotFound();
    return withTag(plan, reply);
  }

  @Put(':name')
  @HttpCode(200)
  @Operation({
    id: 'putPlan',
    summary: 'Create or change a plan',
    description:
      'Replaces all that the plan says: a field that is omitted becomes null. The new limits hold for each account of the ' +
      'plan within a second; requests already counted in the current windows stay counted. `If-Match` with the `ETag` of ' +
      'the plan makes sure that no other operator has changed it meanwhile, and `If-None-Match: *` that it is new. A ' +
      'request that would change nothing is answered with 200 whatever these headers say, so that it can be repeated.',
    path: { name: PLAN_NAME_SCHEMA },
    headers: {
      ...IF_MATCH,
      'If-None-Match': {
        type: 'string',
        pattern: '^\\*$',
        description: 'With `*`, the plan must not exist yet; otherwise 412.',
      },
    },
    response: {
      description: 'The plan as it is now.',
      alternatives: { 201: 'The plan, which was created.' },
      body: PLAN_VIEW,
      headers: ETAG,
    },
    errors: ['plan_changed'],
  })
  async put(
    @Param('name') name: string,
    @JsonBody(PutPlanBody) { limits, maxStoredBytes = null, maxEndpoints = null }: PutPlanBody,
    @CurrentOperator() operator: string,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<object> {
    if (!PLAN_NAME.test(name)) {
      const detail = 'The name of a plan must be 1 to 40 characters of a-z, 0-9 and -.';
      throw new ValidationError([{ pointer: '', detail }]);
    }
    const expected = expectedOf(request.headers);
    const agreed = limits && { perMinute: limits.perMinute, perDay: limits.perDay };
    const terms = { limits: agreed, maxStoredBytes, maxEndpoints };
    const { before, after } = await this.audit.record(operator, async () => {
      const result = await this.plans.put(name, terms, expected);
      const about = { subject: name, accountId: null };
      if (result.before === null) {
        return { result, change: { ...about, action: 'plan.created', before: null, after: termsView(result.after) } };
      }
      const changed = difference(termsView(result.before), termsView(result.after));
      return { result, change: changed && { ...about, action: 'plan.changed', ...changed } };
    });
    if (before === null) void reply.code(201);
    return withTag(after, reply);
  }

  @Delete(':name')
  @HttpCode(204)
  @Operation({
    id: 'deletePlan',
    summary: 'Delete a plan',
    description: 'Only a plan that no account has, and that new accounts do not get, can be deleted.',
    path: { name: PLAN_NAME_SCHEMA },
    headers: { ...IF_MATCH, ...REPEATABLE.headers },
    response: { description: 'The plan was deleted.', headers: REPEATABLE.responseHeaders },
    errors: ['plan_not_found', 'plan_in_use', 'plan_changed', ...REPEATABLE.errors],
  })
  async delete(
    @Param('name') name: string,
    @CurrentOperator() operator: string,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    const expected = expectedOf({ 'if-match': request.headers['if-match'] });
    const work = async () => {
      const before = termsView(await this.plans.remove(name, expected));
      const change = { action: 'plan.deleted', subject: name, accountId: null, before, after: null };
      return { result: undefined, change };
    };
    await this.repeats.atomically({ request, reply, body: null }, () => this.audit.record(operator, work));
  }
}

function withTag(plan: UsedPlan, reply: FastifyReply): object {
  void reply.header('etag', `"${plan.version}"`);
  return planView(plan);
}

/** The condition that a request states; null for none. */
function expectedOf(headers: Pick<FastifyRequest['headers'], 'if-match' | 'if-none-match'>): Expected | null {
  const { 'if-match': match, 'if-none-match': noneMatch } = headers;
  if (match === undefined && noneMatch === undefined) return null;
  if (match === undefined && noneMatch === '*') return 'none';
  if (noneMatch === undefined && match === '*') return 'any';
  const tags = noneMatch === undefined ? (match ?? '').split(',').map((tag) => tag.trim()) : [];
  // A tag that is not of this service, or a weak one, matches no version.
  if (tags.length > 0 && tags.every((tag) => /^(?:W\/)?"[!#-~]*"$/.test(tag))) {
    return tags.flatMap((tag) => (/^"\d{1,10}"$/.test(tag) ? [Number(tag.slice(1, -1))] : []));
  }
  const detail = 'Send either If-Match with the ETag of the plan, such as "1", or If-None-Match: *.';
  throw new ValidationError([{ pointer: '', detail }]);
}
