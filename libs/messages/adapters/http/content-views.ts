import { nullable, time, type JsonSchema } from '#platform/http/openapi/schema.js';
import { CONTENT as FIELDS, type ContentJson, type StateContent } from '../../domain/message-content.js';

type Field = (typeof FIELDS)[number];

function schemaOf({ kind, returned: { description, examples } }: Field): JsonSchema {
  return kind === 'time' ? { ...time(description), examples } : { type: 'string', description, examples };
}

function described(shown: (field: Field) => boolean, schema: (field: Field) => JsonSchema): Record<string, JsonSchema> {
  return Object.fromEntries(FIELDS.filter(shown).map((field) => [field.json, schema(field)]));
}

/** The properties of `contentJson`, which of them are always there, and which may be missing. */
export const CONTENT = described(({ shown }) => shown !== 'with the state', schemaOf) as Record<
  keyof ContentJson,
  JsonSchema
>;
const namesOf = (shown: string) =>
  FIELDS.filter((field) => field.shown === shown).map(({ json }) => json) as (keyof ContentJson)[];
export const REQUIRED_CONTENT = namesOf('always');
export const OPTIONAL_CONTENT = namesOf('if present');

/** The properties of `stateContent`. */
export const STATE_CONTENT = described(
  ({ shown }) => shown === 'with the state',
  (field) => nullable(schemaOf(field)),
) as Record<keyof StateContent, JsonSchema>;
