import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { outputOf } from '../../architecture/tools.js';
import { openApi, OPERATIONS, validator } from '../../support/documented.js';

describe('The OpenAPI document', () => {
  it('is valid OpenAPI 3.1', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-openapi-'));
    const file = join(folder, 'openapi.json');
    await writeFile(file, JSON.stringify(openApi));
    const errors = await outputOf('node_modules/@seriousme/openapi-schema-validator/bin/validate-api-cli.js', [file]);
    await rm(folder, { recursive: true });
    expect(errors).toBe('');
  });

  it('has unique operation ids that client libraries can use as names', () => {
    const ids = OPERATIONS.map(({ operationId }) => operationId);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index || !/^[a-z][A-Za-z]+$/.test(id))).toEqual([]);
  });

  it('has a 404 for each path with a parameter, unless the request creates what is missing', () => {
    const without404 = OPERATIONS.filter(({ path, responses }) => path.includes('{') && !('404' in responses));
    expect(without404.filter(({ responses }) => !('201' in responses))).toEqual([]);
  });

  it('states the status and the codes of each error in a named model, which generators of clients keep', () => {
    const problems = [...nodesIn(openApi)].flatMap(({ 'application/problem+json': content }) => content ?? []);
    for (const { schema } of problems as { schema: { $ref: string } }[]) {
      const model = openApi.components.schemas[schema.$ref.split('/').at(-1) ?? ''];
      const { status, code } = model?.properties ?? {};
      expect([status?.type, typeof status?.const, code?.type, code?.enum?.length]).toEqual([
        ...['integer', 'number', 'string'],
        expect.any(Number),
      ]);
    }
    expect(problems.length).toBeGreaterThan(30);
    expect([...nodesIn(openApi)].filter((node) => 'allOf' in node)).toEqual([]);
  });

  it('refuses requests that the server refuses, and null but where it removes something', () => {
    const isValid = (model: string, value: object) => validator(`/components/schemas/${model}`)(value);
    expect(isValid('SimulateBody', {})).toBe(false);
    expect(isValid('SimulateBody', { perMinute: 1 })).toBe(false);
    expect(isValid('SimulateBody', { perMinute: 1, minutes: 1 })).toBe(true);
    expect(isValid('SimulateBody', { requests: [{ at: 0 }] })).toBe(true);
    expect(isValid('SignUpBody', { name: ' ' })).toBe(false);
    expect(isValid('SendMessageBody', { message: 'x', deliverAt: null })).toBe(false);
    for (const field of ['description', 'rateLimitPerSecond', 'types', 'headers'])
      expect([field, isValid('ChangeEndpointBody', { [field]: null })]).toEqual([field, true]);
    expect(isValid('ChangeEndpointBody', { enabled: null })).toBe(false);
    const lists = OPERATIONS.flatMap(({ parameters = [] }) => parameters.filter(({ name }) => name === 'cursor'));
    expect(lists.length).toBeGreaterThan(3);
    for (const { schema } of lists) expect(schema).toMatchObject({ minLength: 1 });
  });

  it('links the ids in responses to operations that take them', () => {
    const links = OPERATIONS.flatMap(({ responses }) => {
      return Object.values(responses).flatMap((response) => Object.values(response.links ?? {}));
    });
    expect(links.length).toBeGreaterThan(10);
    for (const { operationId, parameters } of links) {
      const { path } = OPERATIONS.find((operation) => operation.operationId === operationId) ?? {};
      expect(path).toMatch(/\{id\}/);
      expect(parameters).toEqual({ id: '$response.body#/id' });
    }
  });

  it('has examples that conform to their schemas', () => {
    const examples = [...examplesIn(openApi, '')];
    expect(examples.filter(({ schema, value }) => !validator(schema)(value))).toEqual([]);
    expect(examples.length).toBeGreaterThan(100);
  });
});

/** All objects in a value, and the value itself. */
function* nodesIn(node: unknown): Generator<Readonly<Record<string, unknown>>> {
  if (typeof node !== 'object' || node === null) return;
  if (!Array.isArray(node)) yield node as Readonly<Record<string, unknown>>;
  for (const value of Object.values(node)) yield* nodesIn(value);
}

/** All examples, each with a JSON Pointer to its schema. */
function* examplesIn(node: unknown, pointer: string): Generator<{ schema: string; value: unknown }> {
  if (typeof node !== 'object' || node === null) return;
  for (const [key, value] of Object.entries(node)) {
    if (key === 'example') yield { schema: `${pointer}/schema`, value };
    else if (key !== 'examples')
      yield* examplesIn(value, `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`);
    // A list in a schema, an object next to one.
    else if (Array.isArray(value)) for (const one of value) yield { schema: pointer, value: one };
    else
      for (const one of Object.values(value as object))
        yield { schema: `${pointer}/schema`, value: (one as { value: unknown }).value };
  }
}
