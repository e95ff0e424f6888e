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

  it('has a 404 for each path with a parameter', () => {
    expect(OPERATIONS.filter(({ path, responses }) => path.includes('{') && !('404' in responses))).toEqual([]);
  });

  it('has examples that conform to their schemas', () => {
    const examples = [...examplesIn(openApi, '')];
    expect(examples.filter(({ schema, value }) => !validator(schema)(value))).toEqual([]);
    expect(examples.length).toBeGreaterThan(100);
  });
});

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
