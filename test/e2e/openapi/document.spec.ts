import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { complaints } from '../../architecture/tools.js';
import { openApi, OPERATIONS, validator } from '../../support/documented.js';

describe('The OpenAPI document', () => {
  it('is valid by the rules of OpenAPI 3.1', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-openapi-'));
    const file = join(folder, 'openapi.json');
    await writeFile(file, JSON.stringify(openApi));
    const said = await complaints('@seriousme/openapi-schema-validator/bin/validate-api-cli.js', file);
    await rm(folder, { recursive: true });
    expect(said).toBe('');
  });

  it('names each operation once, for client libraries', () => {
    const ids = OPERATIONS.map(({ operationId }) => operationId);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index || !/^[a-z][A-Za-z]+$/.test(id))).toEqual([]);
  });

  it('has 404 wherever a path has a parameter', () => {
    const without = OPERATIONS.filter(({ path, responses }) => path.includes('{') && !('404' in responses));
    expect(without).toEqual([]);
  });

  it('has examples that its own schemas allow', () => {
    const found = [...examplesIn(openApi, '')];
    const wrong = found.filter(({ schema, value }) => !validator(schema)(value));
    expect(wrong).toEqual([]);
    expect(found.length).toBeGreaterThan(100);
  });
});

interface Example {
  /** Where the schema is that it must follow. */
  readonly schema: string;
  readonly value: unknown;
}

/** Every `examples` of a schema, every `example` and `examples` beside one. */
function* examplesIn(node: unknown, pointer: string): Generator<Example> {
  if (typeof node !== 'object' || node === null) return;
  const { schema, example, examples } = node as Record<string, unknown>;
  if (Array.isArray(examples)) for (const value of examples) yield { schema: pointer, value };
  if (schema !== undefined && example !== undefined) yield { schema: `${pointer}/schema`, value: example };
  if (schema !== undefined && typeof examples === 'object' && !Array.isArray(examples)) {
    for (const { value } of Object.values(examples as Record<string, { value: unknown }>)) {
      yield { schema: `${pointer}/schema`, value };
    }
  }
  for (const [key, value] of Object.entries(node)) {
    if (['example', 'examples'].includes(key)) continue;
    yield* examplesIn(value, `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`);
  }
}
