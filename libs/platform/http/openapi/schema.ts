/** A JSON Schema (2020-12), in which a model may stand wherever a schema can. */
export type Schema = Model | Readonly<Record<string, unknown>>;

/** A schema with a name, under which the document has it once. */
export class Model {
  constructor(
    readonly name: string,
    readonly schema: Readonly<Record<string, unknown>>,
  ) {}
}

/**
 * The model of what a view function makes. The compiler holds both together: each field is described, and no other.
 * @param optional fields that may be missing
 */
export function viewModel<View extends object>(
  name: string,
  description: string,
  properties: Readonly<Record<keyof View & string, Schema>>,
  optional: readonly (keyof View)[] = [],
): Model {
  const required = Object.keys(properties).filter((field) => !optional.includes(field as keyof View));
  return new Model(name, { type: 'object', description, properties, required });
}

/** The same value, or null. */
export function nullable({ type, enum: values, ...schema }: Readonly<Record<string, unknown>>) {
  const types = { type: [type, 'null'].flat() };
  return Array.isArray(values)
    ? { ...schema, ...types, enum: [...(values as unknown[]), null] }
    : { ...schema, ...types };
}

/** An instant as it is told: ISO 8601, UTC, to the millisecond. */
export function time(description: string, example = '2026-11-21T09:30:00.123Z') {
  return { type: 'string', format: 'date-time', description, examples: [example] };
}

/** An opaque id, such as `msg_01h455vb4pex5vsknk084sn02q`. */
export function idOf(prefix: string, description: string) {
  return { type: 'string', description, examples: [`${prefix}_01h455vb4pex5vsknk084sn02q`] };
}

/** A value that the schema allows, made of the examples that it holds. */
export function exampleOf(schema: Schema): unknown {
  if (schema instanceof Model) return exampleOf(schema.schema);
  const { examples, enum: values, type, items, properties, required } = schema;
  const [given] = (examples ?? values ?? []) as unknown[];
  if (given !== undefined) return given;
  if ('const' in schema) return schema.const;
  if ([type].flat()[0] === 'array') return items === undefined ? [] : [exampleOf(items as Schema)];
  const fields = Object.entries((properties ?? {}) as Record<string, Schema>);
  const shown = fields.filter(([field]) => required === undefined || (required as string[]).includes(field));
  return Object.fromEntries(shown.map(([field, value]) => [field, exampleOf(value)]));
}
