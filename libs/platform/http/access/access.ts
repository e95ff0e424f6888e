import { SetMetadata, type CustomDecorator } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';

/** Who may use a route: anyone, any caller with an API key, one whose key has a scope, or operators. */
export type Access = 'public' | 'caller' | 'operator' | { readonly scope: string };

export const ACCESS = Symbol('access');

/** A route that needs no API key. */
export const Public = (): CustomDecorator<symbol> => SetMetadata(ACCESS, 'public' satisfies Access);

/** A route for any caller with an API key. */
export const ForCallers = (): CustomDecorator<symbol> => SetMetadata(ACCESS, 'caller' satisfies Access);

/** A route for keys that have this scope. */
export const Scoped = (scope: string): CustomDecorator<symbol> => SetMetadata(ACCESS, { scope } satisfies Access);

/** A route for operators. */
export const ForOperators = (): CustomDecorator<symbol> => SetMetadata(ACCESS, 'operator' satisfies Access);

/** Checks again, for requests that go on for long after they were admitted. */
export abstract class AdmissionCheck {
  /**
   * Whether a request with this key would be admitted now.
   * @throws DomainError `unavailable` when the database cannot be reached
   */
  abstract admits(key: string, scope: string): Promise<boolean>;

  /**
   * Verifies the key of a request unless that was done within the last second.
   * @throws DomainError `unauthorized` when it is no longer valid, `account_suspended`, or `unavailable` when the database
   * cannot be reached
   */
  abstract assertKeyValid(request: FastifyRequest): Promise<void>;
}
