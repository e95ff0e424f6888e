import { PROBLEMS } from '#platform/http/problems.js';
import { expectProblem, sharedApi } from '../../support/api.js';

describe('The page of an error', () => {
  const api = sharedApi();

  const page = async (path: string) => {
    const answer = await api.ask(null, `GET ${path}`);
    expect([answer.status, answer.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    return answer.bytes.toString();
  };

  it.each(Object.keys(PROBLEMS) as (keyof typeof PROBLEMS)[])('tells of %s', async (code) => {
    const text = await page(`/errors/${code}`);
    const { status, title, cause, cure } = PROBLEMS[code];
    for (const part of [code, String(status), title, cause, cure]) expect(text).toContain(escaped(part));
    const example = /<pre><code>([^]+)<\/code><\/pre>/
      .exec(text)?.[1]
      ?.replaceAll(/&#(\d+);/g, (_, number: string) => String.fromCharCode(Number(number)));
    expect(JSON.parse(example ?? '')).toMatchObject({ type: `/errors/${code}`, status, code });
  });

  it('is in the list of all', async () => {
    const text = await page('/errors');
    const links = [...text.matchAll(/href="\/errors\/(\w+)"/g)].map(([, code]) => code);
    expect(links.toSorted()).toEqual(Object.keys(PROBLEMS).toSorted());
  });

  it('needs no script', async () => {
    for (const path of ['/errors', '/errors/unavailable'])
      expect(await page(path)).not.toMatch(/<script|style=| on\w+=/);
  });

  it.each(['/errors/unknown', '/errors/toString', '/errors/Unavailable', '/errors/<script>'])(
    'is 404 not_found for %s',
    async (path) => {
      expectProblem(await api.ask(null, `GET ${path}`), 404, 'not_found');
    },
  );
});

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
