import { Controller, Get, Param, Patch, Query } from '@nestjs/common';
import { IsIn, IsOptional, Validate, ValidatorConstraint, type ValidatorConstraintInterface } from 'class-validator';
import { ForOperators } from '#platform/http/access.js';
import { JsonBody } from '#platform/http/json-body.js';
import { Field, Operation, Section } from '#platform/http/openapi/operation.js';
import { pageModel, pageOf, PAGING, readPage, type PageView } from '#platform/http/paging.js';
import { ChangePlan } from '../../application/change-plan.js';
import { GetAccount } from '../../application/get-account.js';
import { ListAccounts } from '../../application/list-accounts.js';
import type { Account } from '../../domain/account.js';
import { limitsError, type Limits } from '../../domain/limits.js';
import { PLANS, type Plan } from '../../domain/plan.js';
import { ACCOUNT, ACCOUNT_ID, accountView, LIMITS } from './views.js';

/** The domain's rule for limits, as a rule of a body. */
@ValidatorConstraint()
class ValidLimits implements ValidatorConstraintInterface {
  static readonly schema = LIMITS.schema;

  validate(value: unknown): boolean {
    return limitsError(value) === null;
  }

  defaultMessage(): string {
    return limitsError(undefined) ?? '';
  }
}

class ChangePlanBody {
  @Field({ description: 'The new plan. Unchanged if omitted.', examples: ['enterprise'] })
  @IsOptional()
  @IsIn(PLANS, { message: `plan must be one of ${PLANS.join(', ')}.` })
  plan?: Plan | null;

  @Field({
    description: 'Individually agreed limits. Only with the plan `enterprise`.',
    examples: [{ perMinute: 5_000, perDay: 1_000_000 }],
  })
  @IsOptional()
  @Validate(ValidLimits)
  limits?: Limits | null;
}

@Section('Operators')
@ForOperators()
@Controller('admin/accounts')
export class AdminAccountsController {
  constructor(
    private readonly listAccounts: ListAccounts,
    private readonly getAccount: GetAccount,
    private readonly changePlan: ChangePlan,
  ) {}

  @Get()
  @Operation({
    id: 'listAccounts',
    summary: 'List accounts',
    query: PAGING,
    response: { description: 'A page of accounts.', body: pageModel(ACCOUNT) },
  })
  async list(@Query() query: Record<string, unknown>): Promise<PageView<object>> {
    const { limit, before } = readPage(query, 'acct');
    const accounts = await this.listAccounts.execute({ limit: limit + 1, before });
    return pageOf(accounts, limit, ({ id }: Account) => id, accountView);
  }

  @Get(':id')
  @Operation({
    id: 'getAnyAccount',
    summary: 'Get any account',
    path: { id: ACCOUNT_ID },
    response: { description: 'The account.', body: ACCOUNT },
    errors: ['account_not_found'],
  })
  async get(@Param('id') id: string): Promise<object> {
    return accountView(await this.getAccount.execute(id));
  }

  @Patch(':id')
  @Operation({
    id: 'changePlan',
    summary: 'Change the plan of an account',
    description:
      'Takes effect everywhere within a second. Requests already counted in the current windows stay counted.',
    path: { id: ACCOUNT_ID },
    response: { description: 'The account with its new plan.', body: ACCOUNT },
    errors: ['account_not_found'],
  })
  async change(@Param('id') id: string, @JsonBody(ChangePlanBody) body: ChangePlanBody): Promise<object> {
    const limits = body.limits ? { perMinute: body.limits.perMinute, perDay: body.limits.perDay } : null;
    return accountView(await this.changePlan.execute(id, body.plan ?? null, limits));
  }
}
