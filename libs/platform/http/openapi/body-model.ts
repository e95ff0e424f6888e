import { getMetadataStorage } from 'class-validator';
import { fieldOf } from './operation.js';
import { Model, nullable } from './schema.js';

type Keywords = Readonly<Record<string, unknown>>;

/** A rule of one's own says itself, in a static field, what it takes. */
interface DescribedRule {
  readonly schema?: Keywords;
}

/** What class-validator's rules are in JSON Schema. */
const RULES: Readonly<Record<string, (constraints: readonly unknown[]) => Keywords>> = {
  isString: () => ({ type: 'string' }),
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
 * The model of a request's body, read from the rules of its class.
 * @throws Error when a rule can't be read: it must be added above, or have a static `schema`
 */
export function bodyModel(type: new () => object): Model {
  let model = models.get(type);
  if (model === undefined) models.set(type, (model = readModel(type)));
  return model;
}

function readModel(type: new () => object): Model {
  const rules = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
  const properties: Record<string, Keywords> = {};
  const optional = new Set<string>();
  for (const { propertyName: field, name = '', constraintCls, constraints, each } of rules) {
    properties[field] ??= fieldOf(type, field);
    if (name === 'isOptional') {
      optional.add(field);
      continue;
    }
    const own = (constraintCls as unknown as DescribedRule | undefined)?.schema;
    const read = RULES[name];
    if (own === undefined && read === undefined) throw new Error(`${type.name}.${field}: no schema for ${name}.`);
    const keywords = own ?? read?.((constraints as unknown[] | undefined) ?? []) ?? {};
    properties[field] = { ...properties[field], ...(each ? { items: keywords } : keywords) };
  }
  for (const field of optional) properties[field] = nullable(properties[field] ?? {});
  const required = Object.keys(properties).filter((field) => !optional.has(field));
  return new Model(type.name, { type: 'object', properties, ...(required.length > 0 ? { required } : {}) });
}
