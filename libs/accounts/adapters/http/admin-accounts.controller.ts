import { Controller, Get, Param, Patch, Query } from '@nestjs/common';
import { IsIn, IsOptional, Validate, ValidatorConstraint, type ValidatorConstraintInterface } from 'class-validator';
import { ForOperators } from '#platform/http/access.js';
import { JsonBody } from '#platform/http/json-body.js';
import { pageOf, readPage, type PageView } from '#platform/http/paging.js';
import { ChangePlan, GetAccount, ListAccounts } from '../../application/plans.js';
import type { Account } from '../../domain/account.js';
import { limitsFault, type Limits } from '../../domain/limits.js';
import { PLANS, type Plan } from '../../domain/plan.js';
import { accountView } from './views.js';

/** The domain's rule for limits, as a rule of a body. */
@ValidatorConstraint()
class ValidLimits implements ValidatorConstraintInterface {
  validate(value: unknown): boolean {
    return limitsFault(value) === null;
  }

  defaultMessage(): string {
    return limitsFault(undefined) ?? '';
  }
}

class ChangePlanBody {
  @IsOptional()
  @IsIn(PLANS, { message: `plan must be one of ${PLANS.join(', ')}.` })
  plan?: Plan | null;

  @IsOptional()
  @Validate(ValidLimits)
  limits?: Limits | null;
}

@ForOperators()
@Controller('admin/accounts')
export class AdminAccountsController {
  constructor(
    private readonly listAccounts: ListAccounts,
    private readonly getAccount: GetAccount,
    private readonly changePlan: ChangePlan,
  ) {}

  @Get()
  async list(@Query() query: Record<string, unknown>): Promise<PageView<object>> {
    const { limit, before } = readPage(query, 'acct');
    const accounts = await this.listAccounts.execute({ limit: limit + 1, before });
    return pageOf(accounts, limit, ({ id }: Account) => id, accountView);
  }

  @Get(':id')
  async get(@Param('id') id: string): Promise<object> {
    return accountView(await this.getAccount.execute(id));
  }

  @Patch(':id')
  async change(@Param('id') id: string, @JsonBody(ChangePlanBody) body: ChangePlanBody): Promise<object> {
    const limits = body.limits ? { perMinute: body.limits.perMinute, perDay: body.limits.perDay } : null;
    return accountView(await this.changePlan.execute(id, body.plan ?? null, limits));
  }
}
