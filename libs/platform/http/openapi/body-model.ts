import { getMetadataStorage, ValidationTypes } from 'class-validator';
import { describedField, describedForms, takesKnownFieldsOnly } from './operation.js';
import { Model, type JsonSchema } from './schema.js';

/** The rules of class-validator in JSON Schema. */
const RULES: Readonly<Record<string, (constraints: readonly unknown[]) => JsonSchema>> = {
  isString: () => ({ type: 'string' }),
  isBoolean: () => ({ type: 'boolean' }),
  isInt: () => ({ type: 'integer' }),
  isArray: () => ({ type: 'array' }),
  isObject: () => ({ type: 'object' }),
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
    const isCondition = rule.type === ValidationTypes.CONDITIONAL_VALIDATION;
    const described = describedField(type, field);
    properties[field] ??= described;
    if (isCondition) optional.add(field);
    // The model of the field contains the rule.
    if (isCondition || '$ref' in described || (each && 'items' in described)) continue;
    const custom = rule.constraintCls as { schema?: JsonSchema } | undefined;
    const keywords = custom?.schema ?? RULES[name]?.((rule.constraints as unknown[] | undefined) ?? []);
    if (keywords === undefined) throw new Error(`${type.name}.${field}: no schema for ${name}.`);
    // What is described may say more than the rule, such as that null is allowed.
    properties[field] = { ...properties[field], ...(each ? { items: keywords } : keywords), ...described };
  }
  const forms = Object.entries(describedForms(type) ?? {}).map(([name, required]) => {
    const fields = Object.entries(properties).filter(([field]) => required.includes(field));
    return new Model(name, { type: 'object', properties: Object.fromEntries(fields), required });
  });
  if (forms.length > 0) return new Model(type.name, { anyOf: forms });
  const required = Object.keys(properties).filter((field) => !optional.has(field));
  return new Model(type.name, {
    type: 'object',
    properties,
    ...(required.length > 0 && { required }),
    ...(takesKnownFieldsOnly(type) && { additionalProperties: false }),
  });
}
