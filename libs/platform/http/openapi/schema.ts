export type JsonSchema = Readonly<Record<string, unknown>>;

/** A JSON Schema (2020-12), in which a model may take the place of any schema, and of the URI of a `$ref`. */
export type Schema = Model | JsonSchema;

/** A named schema. It appears once in the document, under `components.schemas`. */
export class Model {
  constructor(
    readonly name: string,
    readonly schema: JsonSchema,
  ) {}
}

/**
 * The model of a response body. The compiler checks that exactly the fields of `View` are described.
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

/** The model of an enumeration that is used more than once: client libraries have one type for it. */
export function enumModel(name: string, description: string, values: readonly string[]): Model {
  return new Model(name, { type: 'string', enum: values, description });
}

/** A reference to a model that another context describes. */
export function foreignModel(name: string, example: unknown): JsonSchema {
  return { $ref: `#/components/schemas/${name}`, examples: [example] };
}

/** The same schema, which also allows null. */
export function nullable({ $ref, type, ...schema }: JsonSchema): JsonSchema {
  const allowed = $ref === undefined ? { type: [type, 'null'] } : { anyOf: [$ref, { type: 'null' }] };
  return { ...schema, ...allowed };
}

/** A timestamp: ISO 8601, UTC, in milliseconds. */
export function time(description: string, example = '2026-11-21T09:30:00.123Z') {
  return { type: 'string', format: 'date-time', description, examples: [example] };
}

/** An opaque id, such as `msg_01h455vb4pex5vsknk084sn02q`. */
export function idOf(prefix: string, description: string) {
  return { type: 'string', description, examples: [`${prefix}_01h455vb4pex5vsknk084sn02q`] };
}

/** A value that conforms to a schema, built from the examples in it. */
export function exampleOf(schema: Schema): unknown {
  if (schema instanceof Model) return exampleOf(schema.schema);
  const { $ref, anyOf, examples, enum: values, type, items, properties, required } = schema;
  const [first] = (examples ?? values ?? []) as unknown[];
  if (first !== undefined) return first;
  const [model] = [$ref ?? anyOf].flat();
  if (model instanceof Model) return exampleOf(model);
  if ('const' in schema) return schema.const;
  if ([type].flat()[0] === 'array') return items === undefined ? [] : [exampleOf(items as Schema)];
  const fields = Object.entries((properties ?? {}) as Record<string, Schema>);
  const shown = fields.filter(([field]) => required === undefined || (required as string[]).includes(field));
  return Object.fromEntries(shown.map(([field, value]) => [field, exampleOf(value)]));
}

/** Collects the models of a document. */
export class ModelRegistry {
  /** By name. */
  readonly schemas: Record<string, unknown> = {};
  private readonly models = new Map<string, Model>();

  /**
   * Replaces each model in a value by a reference.
   * @throws Error when two different models have the same name
   */
  resolve(value: unknown): unknown {
    if (value instanceof Model) return this.reference(value);
    if (Array.isArray(value)) return value.map((item) => this.resolve(item));
    if (typeof value !== 'object' || value === null) return value;
    const { $ref, ...keywords } = value as JsonSchema;
    if ($ref instanceof Model) return { ...this.reference($ref), ...(this.resolve(keywords) as object) };
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.resolve(item)]));
  }

  private reference(model: Model): object {
    const { name, schema } = model;
    const known = this.models.get(name);
    if (known !== undefined && known.schema !== schema) throw new Error(`Two models have the name ${name}.`);
    if (known === undefined) {
      this.models.set(name, model);
      this.schemas[name] = this.resolve(schema);
    }
    return { $ref: `#/components/schemas/${name}` };
  }
}
