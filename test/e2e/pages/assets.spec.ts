import { expectProblem, ownApi } from '../../support/api.js';
import { OPERATIONS } from '../../support/documented.js';

const [asset] = OPERATIONS.filter(({ operationId }) => operationId === 'getAsset');

describe('The files of the pages', () => {
  const api = ownApi({ ANONYMOUS_PER_MINUTE: '100' });

  it('are all that the document names, and all that the pages load', async () => {
    const names = (asset?.parameters?.[0]?.schema.enum ?? []).map((name) => `/assets/${String(name)}`);
    for (const path of names) {
      const answer = await api.ask(null, `GET ${path}`);
      expect([path, answer.status]).toEqual([path, 200]);
      expect(answer.bytes.length).toBeGreaterThan(100);
    }
    const pages = await Promise.all(
      ['/docs', '/errors'].map(async (path) => (await api.ask(null, `GET ${path}`)).bytes.toString()),
    );
    const loaded = pages.flatMap((page) =>
      [...page.matchAll(/(?:src|rel="\w+" href)="([^"]+)"/g)].map(([, url]) => url),
    );
    expect([...new Set(loaded)].toSorted()).toEqual(names.toSorted());
  });

  it('count, like the pages, against the address of a stranger', async () => {
    const remaining = async (path: string) =>
      Number((await api.ask(null, `GET ${path}`)).headers['x-ratelimit-remaining']);
    const before = await remaining('/docs');
    expect(await remaining('/assets/pages.css')).toBe(before - 1);
    expect(await remaining('/errors/not_found')).toBe(before - 2);
    expect(await remaining('/openapi.json')).toBe(before - 3);
  });

  it.each(['/assets/unknown', '/assets/..%2Fpackage.json', '/assets/swagger-ui-bundle.js.map', '/assets/constructor'])(
    'are no others: %s',
    async (path) => {
      expectProblem(await api.ask(null, `GET ${path}`), 404, 'not_found');
    },
  );
});
