import { Controller, HttpCode, Injectable, Post, UseGuards, type CanActivate } from '@nestjs/common';
import { IsString } from 'class-validator';
import { DomainError } from '#kernel/domain-error.js';
import { JsonBody } from '#platform/http/json-body.js';
import { Public } from '#platform/http/public.decorator.js';
import { SignUp, type SignedUp } from '../../application/sign-up.js';

class SignUpBody {
  @IsString({ message: 'name must be a string.' })
  name!: string;
}

/** Whether strangers may open accounts. */
export class SignupPolicy {
  constructor(readonly open: boolean) {}
}

/** Turns strangers away before their body is read. */
@Injectable()
class OpenSignup implements CanActivate {
  constructor(private readonly policy: SignupPolicy) {}

  canActivate(): boolean {
    if (!this.policy.open) throw new DomainError('signup_closed', 'Ask the operator of this service for an account.');
    return true;
  }
}

@Controller('accounts')
export class AccountsController {
  constructor(private readonly signUp: SignUp) {}

  @Public()
  @UseGuards(OpenSignup)
  @Post()
  @HttpCode(201)
  async create(@JsonBody(SignUpBody) { name }: SignUpBody): Promise<object> {
    return view(await this.signUp.execute(name));
  }
}

function view({ account, apiKey, key }: SignedUp): object {
  return {
    id: account.id,
    name: account.name,
    plan: account.plan,
    createdAt: account.createdAt,
    apiKey: {
      id: apiKey.id,
      name: apiKey.name,
      key,
      scopes: apiKey.scopes,
      createdAt: apiKey.createdAt,
      expiresAt: apiKey.expiresAt,
    },
  };
}
