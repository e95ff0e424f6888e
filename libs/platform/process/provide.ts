import type { Abstract, FactoryProvider } from '@nestjs/common';
import { SETTINGS } from './platform.module.js';

type Token<T> = Abstract<T> | symbol | string;
type Tokens<Args extends readonly unknown[]> = { readonly [Index in keyof Args]: Token<Args[Index]> };

/** A provider for `type`, constructed from one token for each parameter. Classes are type-checked; a symbol or string fits any type. */
export function provide<T, Args extends unknown[]>(
  type: Abstract<T> & (new (...args: Args) => T),
  deps: Tokens<Args>,
): FactoryProvider<T> {
  return provideAs(type, type, deps);
}

/** The same for a port or symbol that is implemented by `type`. */
export function provideAs<T, Args extends unknown[]>(
  token: Token<T>,
  type: new (...args: Args) => T,
  deps: Tokens<Args>,
): FactoryProvider<T> {
  return { provide: token, useFactory: (...args: unknown[]) => new type(...(args as Args)), inject: [...deps] };
}

/** A provider for a part of the settings. */
export function provideSetting(token: symbol, read: (settings: never) => unknown): FactoryProvider {
  return { provide: token, useFactory: read, inject: [SETTINGS] };
}
