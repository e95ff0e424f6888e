import { getMetadataStorage } from 'class-validator';
import { describedField } from './operation.js';
import { Model, nullable, type JsonSchema } from './schema.js';

/** The rules of class-validator in JSON Schema. */
const RULES: Readonly<Record<string, (constraints: readonly unknown[]) => JsonSchema>> = {
  isString: () => ({ type: 'string' }),
  isBoolean: () => ({ type: 'boolean' }),
  isInt: () => ({ type: 'integer' }),
  isArray: () => ({ type: 'array' }),
  arrayNotEmpty: () => ({ minItems: 1 }),
  arrayMinSize: ([minItems]) => ({ minItems }),
  arrayMaxSize: ([maxItems]) => ({ maxItems }),
  isIn: ([values]) => ({ type: 'string', enum: values }),
  min: ([minimum]) => ({ minimum }),
  max: ([maximum]) => ({ maximum }),
};

const models = new WeakMap<new () => object, Model>();

/**
 * The model of a request body, derived from the validation rules of its class.
 * @throws Error for a rule that is neither listed above nor a custom rule with a static `schema`
 */
export function bodyModel(type: new () => object): Model {
  let model = models.get(type);
  if (model === undefined) models.set(type, (model = readModel(type)));
  return model;
}

function readModel(type: new () => object): Model {
  const properties: Record<string, JsonSchema> = {};
  const optional = new Set<string>();
  for (const rule of getMetadataStorage().getTargetValidationMetadatas(type, '', false, false)) {
    const { propertyName: field, name = '', each } = rule;
    properties[field] ??= describedField(type, field);
    if (name === 'isOptional') {
      optional.add(field);
      continue;
    }
    const custom = rule.constraintCls as { schema?: JsonSchema } | undefined;
    const keywords = custom?.schema ?? RULES[name]?.((rule.constraints as unknown[] | undefined) ?? []);
    if (keywords === undefined) throw new Error(`${type.name}.${field}: no schema for ${name}.`);
    properties[field] = { ...properties[field], ...(each ? { items: keywords } : keywords) };
  }
  for (const field of optional) properties[field] = nullable(properties[field] ?? {});
  const required = Object.keys(properties).filter((field) => !optional.has(field));
  return new Model(type.name, { type: 'object', properties, ...(required.length > 0 && { required }) });
}
