import { SetMetadata, type CustomDecorator } from '@nestjs/common';

/** Who may use a route: anyone, any caller with an API key, one whose key has a scope, or operators. */
export type Access = 'public' | 'caller' | 'operator' | { readonly scope: string };

export const ACCESS = Symbol('access');

/** A route that needs no API key. */
export const Public = (): CustomDecorator<symbol> => SetMetadata(ACCESS, 'public' satisfies Access);

/** A route for keys that have this scope. */
export const Scoped = (scope: string): CustomDecorator<symbol> => SetMetadata(ACCESS, { scope } satisfies Access);

/** A route for operators. */
export const ForOperators = (): CustomDecorator<symbol> => SetMetadata(ACCESS, 'operator' satisfies Access);
