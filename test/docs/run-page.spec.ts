import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { difference } from './compare.js';
import { anchorsOf, parsePage } from './page.js';
import { runPage } from './run-page.js';
import { Stage } from './stage.js';

function block(language: string, ...lines: string[]): string[] {
  return [`\`\`\`${language}`, ...lines, '```'];
}

const sh = (...lines: string[]) => block('sh', ...lines);

function parse(...lines: string[]) {
  return parsePage('planted.md', lines.join('\n'));
}

async function run(...lines: string[]): Promise<void> {
  const stage = new Stage(await mkdtemp(join(tmpdir(), 'sluice-docs-')));
  try {
    await runPage(parse(...lines), stage);
  } finally {
    await stage.remove();
  }
}

describe('A correct page', () => {
  it('can set variables, write files, start and stop services, and skip blocks', async () => {
    const lines = [
      ...['<!-- serves: up -->', ...sh('echo up; sleep 100')],
      ...sh('A=1', 'export B=2'),
      ...['', '# A heading', '<!-- file: sub/print.sh -->', ...block('text', 'echo "print $B"')],
      ...['<!-- not run: it would fail -->', ...sh('false')],
      ...[...sh('echo "$A"; bash sub/print.sh'), ...block('text', '1', 'print 2')],
      ...['<!-- stops: the other one -->', '', '<!-- serves: again -->'],
      ...sh('echo again; sleep 0.2; echo later $B; sleep 100'),
      ...['<!-- printed by: echo again -->', ...block('text', 'later 2')],
      ...sh(
        '[ http://127.0.0.1:3000 = "http://127.0.0.1:$PORT" ]',
        '[ MANAGEMENT_PORT=9465 = "MANAGEMENT_PORT=$((MANAGEMENT_PORT + 1))" ]',
      ),
    ];
    await expect(run(...lines)).resolves.toBeUndefined();
  });
});

describe('A page fails if', () => {
  it.each([
    ['a command fails', sh('echo before', 'false', 'echo after'), /planted\.md:1: A command failed.*\n.*before/],
    ['a part of a pipe fails', sh('false | cat'), /planted\.md:1/],
    ['a variable is not set', sh('echo "$UNKNOWN"'), /unbound variable/],
    ['a file is missing', sh('cat .data/other-key'), /No such file/],
    ['something else is printed', [...sh('echo 1'), ...block('text', '2')], /planted\.md:4: "2" was not printed/],
    ['nothing is printed', [...sh('true'), ...block('json', '{}')], /the response is missing/],
    ['a service does not start', ['<!-- serves: here -->', ...sh('echo nothing')], /ended without printing here/],
    [
      'a service exits early',
      [
        ...['<!-- serves: here -->', ...sh('echo $$ >pid; echo here; exit 3')],
        ...sh('while kill -0 "$(cat pid)" 2>/dev/null; do sleep 0.1; done'),
      ],
      /ended unexpectedly \(3\): here/,
    ],
  ])('%s', async (_what, lines, message) => {
    await expect(run(...lines)).rejects.toThrow(message);
  });

  it.each([
    ['an instruction is unknown', ['<!-- notrun: typing error -->', ...sh('false')], 'Unknown instruction'],
    ['an instruction has no block', ['<!-- not run: a test -->', 'text'], 'planted.md:2: expected a block'],
    ['a block is not closed', ['```sh'], 'planted.md:1: the block is not closed'],
  ])('%s', (_what, lines, message) => {
    expect(() => parse(...lines)).toThrow(message);
  });
});

describe('The output of a command', () => {
  const shown = '{"id":"msg_…","n":1,"list":[{"a":null}],"more":{…}}';

  it.each([
    ['the same with other values', '{"id":"msg_x","n":2,"list":[{"a":null},{"a":null}],"more":{"b":1}}', null],
    ['another type', '{"id":"msg_x","n":"1","list":[{"a":null}],"more":{}}', 'the response.n is "1"'],
    ['another beginning', '{"id":"key_x","n":1,"list":[{"a":null}],"more":{}}', 'the response.id is "key_x"'],
    ['a field less', '{"id":"msg_x","list":[{"a":null}],"more":{}}', 'the response.n is missing'],
    ['a field more', '{"id":"msg_x","n":1,"list":[{"a":null}],"more":{},"x":1}', 'the response also has x'],
    ['an empty list', '{"id":"msg_x","n":1,"list":[],"more":{}}', 'the response.list is []'],
    ['a value instead of null', '{"id":"msg_x","n":1,"list":[{"a":0}],"more":{}}', 'the response.list is [{"a":0}]'],
  ])('in JSON: %s', (_what, printed, found) => {
    expect(difference('json', shown, printed)).toBe(found);
  });

  it.each([
    ['the same with other values', '200 OK', 'X-A', 'a', null],
    ['another status', '202 Accepted', 'X-A', 'a', 'the status line is HTTP/1.1 202 Accepted'],
    ['another header', '200 OK', 'X-C', 'a', 'header x-a is missing'],
    ['another code', '200 OK', 'X-A', 'b', 'the code is b'],
  ])('in HTTP: %s', (_what, status, header, code, found) => {
    const page = 'HTTP/1.1 200 OK\nx-a: 1\n\n{"code":"a","type":"/errors/a"}';
    const body = `{"code":"${code}","type":"/errors/${code}"}`;
    const printed = `HTTP/1.1 ${status}\r\n${header}: 2\r\nx-b: 3\r\n\r\n${body}\n`;
    expect(difference('http', page, printed)).toBe(found);
  });

  it('in text is compared line by line, with any ids and times', () => {
    const id = (end: string) => `msg_01m7z3xhqzeywbegcvm7ee64${end}`;
    expect(difference('text', `a ${id('q0')} …\n(c)`, `x\na ${id('q1')} b\n\n(c)\n`)).toBeNull();
    expect(difference('text', 'a\nb', 'b\na')).toBe('"b" was not printed');
  });
});

it('generates the same anchors as GitHub', () => {
  const headings = ['# `npm start` only', '## How to add …', '## 429: stop, wait', '## It', '## It'];
  const anchors = anchorsOf(parse(...headings, ...sh('# none')));
  expect([...anchors]).toEqual(['npm-start-only', 'how-to-add-', '429-stop-wait', 'it', 'it-1']);
});
