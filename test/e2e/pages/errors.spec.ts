import { PROBLEMS } from '#platform/http/problems.js';
import { expectProblem, sharedApi } from '../../support/api.js';

describe('The pages of errors', () => {
  const api = sharedApi();

  const page = async (path: string) => {
    const { status, headers, bytes } = await api.ask(null, `GET ${path}`);
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(bytes.toString()).not.toMatch(/<script|style=| on\w+=/);
    return bytes.toString();
  };

  it('explain each error', async () => {
    for (const [code, { status, title, cause, cure }] of Object.entries(PROBLEMS)) {
      const text = unescape(await page(`/errors/${code}`));
      for (const part of [code, String(status), title, cause, cure]) expect(text).toContain(part);
      const example = /<pre><code>([^]+)<\/code><\/pre>/.exec(text)?.[1] ?? '';
      expect(JSON.parse(example)).toMatchObject({ type: `/errors/${code}`, status, code });
    }
  });

  it('are listed', async () => {
    const links = [...(await page('/errors')).matchAll(/href="\/errors\/(\w+)"/g)].map(([, code]) => code);
    expect(links.toSorted()).toEqual(Object.keys(PROBLEMS).toSorted());
  });

  it.each(['unknown', 'toString', 'Unavailable', '<script>'])('do not exist for /errors/%s', async (code) => {
    expectProblem(await api.ask(null, `GET /errors/${code}`), 404, 'not_found');
  });
});

function unescape(html: string): string {
  return html.replaceAll(/&#(\d+);/g, (_, number: string) => String.fromCharCode(Number(number)));
}
