import { SetMetadata, type CustomDecorator } from '@nestjs/common';

/** Who may use a route: anyone, any caller with an API key, one whose key has a scope, or operators. */
export type Access = 'public' | 'caller' | 'operator' | { readonly scope: string };

export const ACCESS = Symbol('access');

/** A route that needs no API key. */
export const Public = (): CustomDecorator<symbol> => SetMetadata(ACCESS, 'public' satisfies Access);

/** A route for keys that have this scope. */
export const Scoped = (scope: string): CustomDecorator<symbol> => SetMetadata(ACCESS, { scope } satisfies Access);

/** Tells whether a request would be admitted now: for responses that go on for long after it was. */
export abstract class AdmissionCheck {
  /** @throws DomainError `unavailable` when the database cannot be reached */
  abstract admits(key: string, scope: string): Promise<boolean>;
}

/** A route for operators. */
export const ForOperators = (): CustomDecorator<symbol> => SetMetadata(ACCESS, 'operator' satisfies Access);
