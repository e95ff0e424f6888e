import { ERRORS } from '../../../apps/api/errors.js';
import { expectProblem, ownApi, sharedApi } from '../../support/api.js';
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

  const others = ['unknown', '..%2Fpackage.json', 'swagger-ui-bundle.js.map', 'constructor'];
  it.each(others)('do not include %s', async (name) => {
    expectProblem(await get(`/assets/${name}`), 404, 'not_found');
  });
});

describe('The pages of errors', () => {
  const api = sharedApi();

  const page = async (path: string) => {
    const { status, headers, bytes } = await api.ask(null, `GET ${path}`);
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(bytes.toString()).not.toMatch(/<script|style=| on\w+=/);
    return bytes.toString();
  };

  it('explain each error', async () => {
    for (const [code, { status, title, cause, cure }] of Object.entries(ERRORS)) {
      const text = unescape(await page(`/errors/${code}`));
      for (const part of [code, String(status), title, cause, cure]) expect(text).toContain(part);
      const example = /<pre><code>([^]+)<\/code><\/pre>/.exec(text)?.[1] ?? '';
      expect(JSON.parse(example)).toMatchObject({ type: `/errors/${code}`, status, code });
    }
  });

  it('are listed', async () => {
    const links = [...(await page('/errors')).matchAll(/href="\/errors\/(\w+)"/g)].map(([, code]) => code);
    expect(links.toSorted()).toEqual(Object.keys(ERRORS).toSorted());
  });

  it.each(['unknown', 'toString', 'Unavailable', '<script>'])('do not exist for /errors/%s', async (code) => {
    expectProblem(await api.ask(null, `GET /errors/${code}`), 404, 'not_found');
  });
});

function unescape(html: string): string {
  return html.replaceAll(/&#(\d+);/g, (_, number: string) => String.fromCharCode(Number(number)));
}
