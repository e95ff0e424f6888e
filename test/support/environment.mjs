import { readFileSync } from 'node:fs';
import addFormats from 'ajv-formats';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { TestEnvironment } from 'jest-environment-node';

let schemas;

/** Gives test files `documentedSchemas()`: what a Jest worker compiles of the OpenAPI document, once for all its files. */
export default class Environment extends TestEnvironment {
  async setup() {
    await super.setup();
    this.global.documentedSchemas = () => (schemas ??= openSchemas());
  }
}

/** The document of a server with all features enabled, generated once per run; by pointers into it, its validators. */
function openSchemas() {
  const file = process.env.TEST_OPENAPI;
  if (file === undefined) throw new Error('No OpenAPI document: start the tests with npm test.');
  const openApi = JSON.parse(readFileSync(file, 'utf8'));
  const ajv = addFormats.default(
    new Ajv2020({
      strictSchema: true,
      strictTypes: false,
      strictRequired: false,
      allErrors: true,
      validateSchema: false,
    }),
  );
  // Ajv compiles the whole document to reach one of its schemas.
  ajv.addVocabulary(Object.keys(openApi));
  ajv.addSchema(closed(openApi), 'openapi');
  return { openApi, ajv, validators: new Map() };
}

/** The same schemas without additional properties. */
function closed(value) {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== 'object' || value === null) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([key, item]) => [key, closed(item)]));
  const isObject = copy.type === 'object' && 'properties' in copy && !('additionalProperties' in copy);
  return isObject ? { ...copy, additionalProperties: false } : copy;
}
