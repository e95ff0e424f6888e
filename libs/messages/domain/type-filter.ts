import { MAX_TYPE, MESSAGE_TYPE } from './message-type.js';

/**
 * Selects messages in a list: those of one type, or all whose type begins with these words and has more. What an endpoint
 * wants is a pattern: see type-pattern.ts.
 */
export type TypeFilter =
  | { readonly type: string }
  | {
      /** The words, each followed by a dot. */
      readonly prefix: string;
      readonly words: number;
    };

export const TYPE_FILTER = new RegExp(String.raw`${MESSAGE_TYPE.source}|^([A-Za-z0-9_-]+\.)+\*$`);

/** `order.paid` is one type; `order.*` is every type that begins with `order.`, which `order` does not. */
export function readTypeFilter(text: unknown): TypeFilter | null {
  if (typeof text !== 'string' || text.length > MAX_TYPE || !TYPE_FILTER.test(text)) return null;
  if (!text.endsWith('*')) return { type: text };
  const prefix = text.slice(0, -1);
  return { prefix, words: prefix.split('.').length - 1 };
}
