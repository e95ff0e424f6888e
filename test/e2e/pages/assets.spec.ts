import { expectProblem, ownApi } from '../../support/api.js';
import { OPERATIONS } from '../../support/documented.js';

const asset = OPERATIONS.find(({ operationId }) => operationId === 'getAsset');

describe('The static files', () => {
  const api = ownApi({ ANONYMOUS_PER_MINUTE: '100' });
  const get = (path: string) => api.ask(null, `GET ${path}`);

  it('are those in the document, and those that the pages load', async () => {
    const paths = (asset?.parameters?.[0]?.schema.enum ?? []).map((name) => `/assets/${String(name)}`);
    for (const path of paths) {
      const { status, bytes } = await get(path);
      expect([path, status, bytes.length > 100]).toEqual([path, 200, true]);
    }
    const pages = await Promise.all(['/docs', '/errors'].map(get));
    const loaded = pages.flatMap(({ bytes }) =>
      [...bytes.toString().matchAll(/(?:src|rel="\w+" href)="([^"]+)"/g)].map(([, url]) => url),
    );
    expect([...new Set(loaded)].toSorted()).toEqual(paths.toSorted());
  });

  it('count against the anonymous budget, like the pages', async () => {
    const remaining = async (path: string) => Number((await get(path)).headers['x-ratelimit-remaining']);
    const before = await remaining('/docs');
    expect(await remaining('/assets/pages.css')).toBe(before - 1);
    expect(await remaining('/errors/not_found')).toBe(before - 2);
    expect(await remaining('/openapi.json')).toBe(before - 3);
  });

  it.each(['unknown', '..%2Fpackage.json', 'swagger-ui-bundle.js.map', 'constructor'])(
    'do not include %s',
    async (name) => {
      expectProblem(await get(`/assets/${name}`), 404, 'not_found');
    },
  );
});
