import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Folder } from './clone.js';
import { differences } from './example.js';
import { anchorsOf, parsePage } from './page.js';
import { tryPage } from './try-page.js';

/** A program that serves, so that no Sluice has to be started for these pages. */
const SERVER = ['<!-- serves: up -->', '```sh', 'echo up; sleep 100', '```'];

function aPage(...lines: string[]) {
  return parsePage('planted.md', [...SERVER, ...lines].join('\n'));
}

/** What is quicker to make than a clone, which none of these pages needs. */
async function anEmptyFolder(): Promise<Folder> {
  const path = await mkdtemp(join(tmpdir(), 'sluice-docs-'));
  return { path, remove: () => rm(path, { recursive: true }) };
}

function sh(...lines: string[]): string[] {
  return ['```sh', ...lines, '```'];
}

function answer(language: string, ...lines: string[]): string[] {
  return [`\`\`\`${language}`, ...lines, '```'];
}

describe('A page that is right', () => {
  it('can set variables, write files, serve, stop, and leave things out', async () => {
    const page = aPage(
      ...[
        ...sh('A=1', 'export B=2'),
        '',
        '# A heading',
        '<!-- file: sub/say.sh -->',
        ...answer('text', 'echo "say $B"'),
      ],
      ...['<!-- not run: it would fail -->', ...sh('false')],
      ...[...sh('echo "$A"; bash sub/say.sh'), ...answer('text', '1', 'say 2')],
      ...[
        '<!-- stops: the other one -->',
        '',
        '<!-- serves: again -->',
        ...sh('echo again; sleep 0.2; echo later $B; sleep 100'),
      ],
      ...['<!-- printed by: echo again -->', ...answer('text', 'later 2')],
      ...sh(
        '[ http://127.0.0.1:3000 = "http://127.0.0.1:$PORT" ]',
        '[ MANAGEMENT_PORT=9465 = "MANAGEMENT_PORT=$((MANAGEMENT_PORT + 1))" ]',
      ),
    );
    await expect(tryPage(page, anEmptyFolder)).resolves.toBeUndefined();
  });
});

describe('A page that is wrong is told from one that is right:', () => {
  it.each([
    ['a command fails', sh('echo before', 'false', 'echo after'), /planted\.md:5: A command failed.*\n.*before/],
    ['a part of a command fails', sh('false | cat'), /planted\.md:5/],
    ['a variable is not set', sh('echo "$NOBODY"'), /unbound variable/],
    ['a file is not there', sh('cat .data/other-key'), /No such file/],
    ['something else is printed', [...sh('echo 1'), ...answer('text', '2')], /planted\.md:8: "2" was not printed/],
    ['nothing is printed', [...sh('true'), ...answer('json', '{}')], /the answer is no JSON/],
    [
      'a program does not serve',
      ['<!-- serves: here -->', ...sh('echo nothing')],
      /ended \(exit code 0\) before it said/,
    ],
    [
      'a program that serves ends',
      [
        ...['', '<!-- serves: here -->', ...sh('echo $$ >pid; echo here; exit 3')],
        ...sh('while kill -0 "$(cat pid)" 2>/dev/null; do sleep 0.1; done'),
      ],
      /ended by itself \(exit code 3\)/,
    ],
  ])('%s', async (_what, lines, complaint) => {
    await expect(tryPage(aPage(...lines), anEmptyFolder)).rejects.toThrow(complaint);
  });

  it('a comment looks like one of ours', () => {
    expect(() => aPage('<!-- notrun: typing error -->', ...sh('false'))).toThrow('No test understands');
  });

  it('a block has no end', () => {
    expect(() => aPage('```sh')).toThrow('planted.md:5: the block has no end');
  });
});

describe('An answer', () => {
  const shown = '{"id":"msg_…","n":1,"list":[{"a":null}],"more":{…}}';

  it.each([
    ['the same with other values', '{"id":"msg_x","n":2,"list":[{"a":null},{"a":null}],"more":{"b":1}}', []],
    ['another type', '{"id":"msg_x","n":"1","list":[{"a":null}],"more":{}}', ['the answer.n is "1"']],
    ['another beginning', '{"id":"key_x","n":1,"list":[{"a":null}],"more":{}}', ['the answer.id is "key_x"']],
    ['a field less', '{"id":"msg_x","list":[{"a":null}],"more":{}}', ['the answer has no n']],
    ['a field more', '{"id":"msg_x","n":1,"list":[{"a":null}],"more":{},"x":1}', ['the answer also has x']],
    ['an empty list', '{"id":"msg_x","n":1,"list":[],"more":{}}', ['the answer.list is empty']],
    ['a null that is none', '{"id":"msg_x","n":1,"list":[{"a":0}],"more":{}}', ['the answer.list[0].a is 0']],
  ])('of JSON: %s', (_what, printed, wrong) => {
    expect(differences('json', shown, printed)).toEqual(wrong);
  });

  it('of HTTP has its status, headers and body', () => {
    const page = 'HTTP/1.1 200 OK\nx-a: 1\n\n{"code":"a","type":"/errors/a"}';
    const printed = (status: string, header: string, code: string) =>
      `HTTP/1.1 ${status}\r\n${header}: 2\r\nx-b: 3\r\n\r\n{"code":"${code}","type":"/errors/${code}"}\n`;
    expect(differences('http', page, printed('200 OK', 'X-A', 'a'))).toEqual([]);
    expect(differences('http', page, printed('202 Accepted', 'X-C', 'b'))).toEqual([
      ...['it was answered HTTP/1.1 202 Accepted', 'there is no x-a', 'the code is b'],
    ]);
  });

  it('of text has its lines in their order, with any ids and times', () => {
    const id = (end: string) => `msg_01m7z3xhqzeywbegcvm7ee64${end}`;
    expect(differences('text', `a ${id('q0')} …\n(c)`, `x\na ${id('q1')} b\n\n(c)\n`)).toEqual([]);
    expect(differences('text', 'a\nb', 'b\na')).toEqual(['"b" was not printed']);
  });
});

it('Anchors are those of GitHub', () => {
  const headings = [
    '# `npm start` only',
    '## How to add …',
    '## 429: stop, wait',
    '## It',
    '## It',
    '```sh',
    '# none',
    '```',
  ];
  const anchors = anchorsOf(parsePage('planted.md', headings.join('\n')));
  expect([...anchors]).toEqual(['npm-start-only', 'how-to-add-', '429-stop-wait', 'it', 'it-1']);
});
