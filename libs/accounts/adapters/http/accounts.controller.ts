import { Controller, Get, HttpCode, Post, Req, UseGuards } from '@nestjs/common';
import { IsString } from 'class-validator';
import type { FastifyRequest } from 'fastify';
import { Public, Scoped } from '#platform/http/access.js';
import { CurrentCaller, type Caller } from '#platform/http/caller.js';
import { JsonBody } from '#platform/http/json-body.js';
import { GetAccount } from '../../application/plans.js';
import { SignUp } from '../../application/sign-up.js';
import { SignupDoor, SignupPolicy } from './signup-policy.js';
import { accountView, issuedKeyView } from './views.js';

class SignUpBody {
  @IsString({ message: 'name must be a string.' })
  name!: string;
}

@Controller()
export class AccountsController {
  constructor(
    private readonly signUp: SignUp,
    private readonly policy: SignupPolicy,
    private readonly getAccount: GetAccount,
  ) {}

  @Public()
  @UseGuards(SignupDoor)
  @Post('accounts')
  @HttpCode(201)
  async create(@Req() request: FastifyRequest, @JsonBody(SignUpBody) { name }: SignUpBody): Promise<object> {
    const signedUp = await this.policy.count(request, () => this.signUp.execute(name));
    const { id, plan, createdAt } = signedUp.account;
    return { id, name, plan, createdAt, apiKey: issuedKeyView(signedUp) };
  }

  @Scoped('account:manage')
  @Get('account')
  async get(@CurrentCaller() { accountId }: Caller): Promise<object> {
    return accountView(await this.getAccount.execute(accountId));
  }
}
