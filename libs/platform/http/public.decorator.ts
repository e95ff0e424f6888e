import { SetMetadata, type CustomDecorator } from '@nestjs/common';

export const PUBLIC_ROUTE = Symbol('public route');

/** A route that needs no API key. */
export const Public = (): CustomDecorator<symbol> => SetMetadata(PUBLIC_ROUTE, true);
