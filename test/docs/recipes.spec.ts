import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../support/processes.js';
import { readPage } from './page.js';

const page = readPage('docs/development.md').text;

function filesIn(path: string): string[] {
  if (statSync(join(ROOT, path)).isFile()) return [path];
  return readdirSync(join(ROOT, path), { withFileTypes: true }).flatMap((entry) =>
    entry.name === '__pycache__' ? [] : filesIn(`${path}/${entry.name}`),
  );
}

/** Generated, or only what the recipe ends with. */
const NOT_BY_HAND = /\/openapi\.ts$|\/models\.(py|go)$|\.spec\.ts$|\/migrations\//;

/**
 * A recipe is complete if it names the files in which something that was added in this way is found. `only` are the places
 * where all that is added is found; elsewhere, its purpose decides.
 */
describe('A recipe of "How to add …" names all files', () => {
  it.each([
    ['a field of a message', /\borderingKey|ordering_key/, ['apps', 'clients/python/sluice', 'libs/client'], []],
    [
      ...(['something that a plan determines', /maxStoredBytes|max_stored_bytes/] as const),
      ['apps', 'clients/python/sluice', 'libs/client', 'libs/accounts'],
      // These enforce it under another name.
      [
        'libs/rate-limiting/domain/decide-hit.ts',
        'libs/messages/application/storage/storage-cap.ts',
        'libs/webhooks/adapters/postgres/postgres-endpoints.ts',
      ],
    ],
    [
      ...(['an option of endpoints', /rateLimitPerSecond|rate_limit_per_second/] as const),
      ['apps', 'clients/python/sluice', 'libs/client', 'libs/webhooks/domain', 'libs/webhooks/adapters/http'],
      // These are for options of other kinds.
      ['libs/webhooks/application/endpoints/valid-endpoint.ts', 'libs/webhooks/application/sending/webhook-request.ts'],
    ],
  ] as const)('%s', (heading, example, only, forOthers) => {
    const [, recipe = ''] = page.split(`\n### ${heading}\n`);
    const named = [...(recipe.split('\n### ')[0] ?? '').matchAll(/`([\w./-]+\.(?:ts|tsx|py|md))`/g)].map(
      ([, path = '']) => path,
    );
    const hasExample = (path: string) => example.test(readFileSync(join(ROOT, path), 'utf8'));
    const found = only.flatMap(filesIn).filter((path) => !NOT_BY_HAND.test(path) && hasExample(path));
    expect(found.filter((path) => !named.includes(path))).toEqual([]);
    expect(named.filter((path) => !hasExample(path))).toEqual(forOthers);
  });
});
