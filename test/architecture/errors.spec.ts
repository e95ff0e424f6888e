import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { HTTP_ERRORS, type ErrorTable } from '#platform/http/errors.js';
import { ERRORS } from '../../apps/api/errors.js';
import { ROOT } from '../support/processes.js';

const sources = ['libs', 'apps'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.spec.ts') && !path.startsWith('client/'))
    .map((path) => join(folder, path)),
);
const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8');

it('Every error code that is thrown or documented has a description', () => {
  const used = sources.flatMap((path) => {
    const text = textOf(path);
    const thrown = [...text.matchAll(/(?:DomainError|RetryLaterError|super)\(\s*'([a-z_]+)'/g)].map(
      ([, code = '']) => code,
    );
    const documented = [...text.matchAll(/\b(?:errors: |_ERRORS: readonly string\[\] = )\[([^\]]*)\]/g)].flatMap(
      ([, list = '']) => [...list.matchAll(/'([a-z_]+)'/g)].map(([, code = '']) => code),
    );
    return [...thrown, ...documented].map((code) => ({ path, code }));
  });
  expect(used.length).toBeGreaterThan(80);
  expect(used.filter(({ code }) => !(code in ERRORS))).toEqual([]);
});

it('Every description belongs to a code that something throws', () => {
  const tables = sources.filter((path) => path.endsWith('/errors.ts'));
  const others = sources
    .filter((path) => !tables.includes(path))
    .map(textOf)
    .join('\n');
  expect(Object.keys(ERRORS).filter((code) => !others.includes(`'${code}'`))).toEqual([]);
});

it('No code is described by two contexts', async () => {
  const contexts = ['accounts', 'rate-limiting', 'messages', 'pull', 'webhooks', 'events'];
  const tables = contexts.map((context) => import(`#${context}/errors.js`) as Promise<Record<string, ErrorTable>>);
  const described = [HTTP_ERRORS, ...(await Promise.all(tables)).flatMap((exported) => Object.values(exported))];
  expect(described.flatMap((table) => Object.keys(table)).toSorted()).toEqual(Object.keys(ERRORS).toSorted());
});
