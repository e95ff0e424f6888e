import { isLongerThan, isStorable } from '#kernel/text.js';

/** Strings by name. Any name is data: `__proto__`, too. */
export type Metadata = Readonly<Record<string, string>>;

export const MAX_METADATA = 50;
/** Characters. */
export const MAX_METADATA_NAME = 40;
export const MAX_METADATA_VALUE = 500;

/** Why metadata is refused, as a sentence for the caller; null when it is accepted. */
export function metadataError(metadata: Readonly<Record<string, unknown>>): string | null {
  const entries = Object.entries(metadata);
  if (entries.length > MAX_METADATA) return `metadata must have at most ${MAX_METADATA} values.`;
  for (const [name, value] of entries) {
    if (typeof value !== 'string') return 'The values of metadata must be strings.';
    if (name === '' || isLongerThan(name, MAX_METADATA_NAME)) {
      return `The names of metadata must be 1 to ${MAX_METADATA_NAME} characters.`;
    }
    if (isLongerThan(value, MAX_METADATA_VALUE))
      return `The values of metadata must be at most ${MAX_METADATA_VALUE} characters.`;
    if (!isStorable(name) || !isStorable(value)) return 'metadata must not contain U+0000 or lone surrogates.';
  }
  return null;
}
