/** The models of the Python and the Go client, from the schemas of the OpenAPI document. */

/** The names of the models by those of their schemas. */
const MODELS = {
  FieldFault: 'FieldError',
  Problem: 'Problem',
  SendMessageBody: 'NewMessage',
  AcceptedMessage: 'AcceptedMessage',
  Message: 'Message',
  Attempt: 'Attempt',
  LeasedMessage: 'LeasedMessage',
  Acknowledgement: 'Acknowledgement',
  MessageWebhook: 'WebhookPayload',
};
const NOTE = 'Generated from the OpenAPI document by `npm run client:types`.';

export function pythonModels({ components: { schemas } }) {
  const classes = modelsOf(schemas).map(({ name, fields }) => {
    const isInput = name.startsWith('New');
    const line = ({ field, schema }) => `    ${field}: ${pythonType(schema, schemas, isInput)}`;
    const [required, optional] = [true, false].map((is) => fields.filter((one) => one.isRequired === is).map(line));
    if (optional.length === 0) return [`class ${name}(TypedDict):`, ...required].join('\n');
    const base = [`class _${name}(TypedDict, total=False):`, ...optional].join('\n');
    return `${base}\n\n\nclass ${name}(_${name}):\n${required.join('\n')}`;
  });
  const imports = [
    'from __future__ import annotations',
    'from datetime import datetime\nfrom typing import Dict, List, Literal, Optional, TypedDict, Union',
  ];
  return `"""${NOTE}"""\n\n${imports.join('\n\n')}\n\n\n${classes.join('\n\n\n')}\n`;
}

export function goModels({ components: { schemas } }) {
  const structs = modelsOf(schemas).map(({ name, fields }) => {
    const rows = fields.map(({ field, schema, isRequired }) => [
      field.replace(/^./, (letter) => letter.toUpperCase()).replace(/Id$/, 'ID'),
      goType(schema, schemas, isRequired),
      `\`json:"${field}${isRequired ? '' : ',omitempty'}"\``,
    ]);
    const [names, types] = [0, 1].map((at) => Math.max(...rows.map((row) => row[at].length)));
    const lines = rows.map(([field, type, tag]) => `\t${field.padEnd(names)} ${type.padEnd(types)} ${tag}`);
    return `type ${name} struct {\n${lines.join('\n')}\n}`;
  });
  return `// ${NOTE}\n\npackage sluice\n\nimport "time"\n\n${structs.join('\n\n')}\n`;
}

/** An object within another is a model of its own, before it. */
function modelsOf(schemas) {
  return Object.entries(MODELS).flatMap(([schema, name]) => {
    const { properties, required = [] } = schemas[schema];
    const inner = [];
    const fields = Object.entries(properties).map(([field, given]) => {
      const isRequired = required.includes(field);
      if (given.properties === undefined) return { field, schema: given, isRequired };
      const model = name.replace(/Payload$/, '') + field[0].toUpperCase() + field.slice(1);
      inner.push(...modelsOfObject(model, given));
      return { field, schema: { model }, isRequired };
    });
    return [...inner, { name, fields }];
  });
}

function modelsOfObject(name, { properties, required = [] }) {
  const fields = Object.entries(properties).map(([field, schema]) => {
    return { field, schema, isRequired: required.includes(field) };
  });
  return [{ name, fields }];
}

function pythonType(given, schemas, isInput) {
  const { schema, isNullable } = resolved(given, schemas);
  const type = () => {
    if (schema.model !== undefined) return schema.model;
    if (schema.enum !== undefined && schema.enum.length < 20) return `Literal[${schema.enum.map(quoted).join(', ')}]`;
    if (schema.const !== undefined) return `Literal[${quoted(schema.const)}]`;
    if (schema.type === 'array') return `List[${pythonType(schema.items, schemas, isInput)}]`;
    if (schema.type === 'object') return 'Dict[str, str]';
    if (schema.format === 'date-time' && isInput) return 'Union[datetime, str]';
    return { string: 'str', integer: 'int', number: 'float', boolean: 'bool' }[schema.type];
  };
  return isNullable ? `Optional[${type()}]` : type();
}

function goType(given, schemas, isRequired) {
  const { schema, isNullable } = resolved(given, schemas);
  const type = () => {
    if (schema.model !== undefined) return schema.model;
    if (schema.type === 'array') return `[]${goType(schema.items, schemas, true)}`;
    if (schema.type === 'object') return 'map[string]string';
    if (schema.format === 'date-time') return 'time.Time';
    return { string: 'string', integer: 'int', number: 'float64', boolean: 'bool' }[schema.type];
  };
  // An empty text and no text are the same, but there is no empty time.
  const isPointer = isNullable || (!isRequired && type() === 'time.Time');
  return isPointer ? `*${type()}` : type();
}

/** A schema without its reference, and whether it allows null. */
function resolved(given, schemas) {
  if (given.$ref !== undefined) {
    const name = given.$ref.split('/').at(-1);
    return name in MODELS ? { schema: { model: MODELS[name] } } : resolved(schemas[name], schemas);
  }
  if (!Array.isArray(given.type)) return { schema: given, isNullable: false };
  const schema = { ...given, type: given.type.find((type) => type !== 'null') };
  return { schema, isNullable: given.type.includes('null') };
}

const quoted = (text) => JSON.stringify(text);
