import { time, type JsonSchema } from '#platform/http/openapi/schema.js';
import { CONTENT as FIELDS, type ContentJson } from '../../domain/message-content.js';

type Field = (typeof FIELDS)[number];

function schemaOf({ kind, returned: { description, examples } }: Field): JsonSchema {
  if (kind === 'time') return { ...time(description), examples };
  if (kind === 'text') return { type: 'string', description, examples };
  return { type: 'object', additionalProperties: { type: 'string' }, description, examples };
}

/** The properties of `contentJson`, which of them are always there, and which may be missing. */
export const CONTENT = Object.fromEntries(FIELDS.map((field) => [field.json, schemaOf(field)])) as Record<
  keyof ContentJson,
  JsonSchema
>;
const namesWhere = (isRequired: boolean) =>
  FIELDS.filter((field) => field.isRequired === isRequired).map(({ json }) => json) as (keyof ContentJson)[];
export const REQUIRED_CONTENT = namesWhere(true);
export const OPTIONAL_CONTENT = namesWhere(false);
