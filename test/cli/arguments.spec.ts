import { createServer } from 'node:http';
import type { Command, Option } from 'commander';
import { Program } from '../../apps/cli/program.js';
import { listen } from '../support/processes.js';
import { InProcessCli } from '../support/in-process-cli.js';

const NOT_A_NUMBER = [
  ...[
    '',
    ' ',
    '-1',
    '+1',
    '1.5',
    '1,000',
    '1e3',
    '0x10',
    '1_000',
    'NaN',
    'Infinity',
    '-Infinity',
    ' 1',
    '1 ',
    '1\n',
    'ten',
  ],
  ...['９', '1s', '9007199254740993', '1e400', '99999999999999999999'],
];
const NOT_A_TIME = [
  ...['', ' ', 'now', '2026-11-31T07:00:00Z', '2026-11-21T24:00:00Z', '2026-12-31T23:59:60Z', '26-11-21', '2026-02-29'],
  ...['2026-11-21T09:30:00 (CET)', '2026-11-21T09:30:00Z (CET)', '2026-11-21T09:30 CET', '1795266889', '21.11.2026'],
];
const NOT_A_TYPE = [
  '',
  ' ',
  '.',
  '.a',
  'a.',
  'a..b',
  'a b',
  'a\n',
  'é',
  '*',
  'order*',
  '*.paid',
  'order.*.paid',
  'a,b',
];
const NOT_AN_ID = [
  '',
  ' ',
  '.',
  '..',
  '../admin',
  'a/b',
  'x?y',
  'x#y',
  '%2e%2e',
  'msg_',
  'other_01m7z3xhqzeywbegcvm7ee64q0',
];
const NOT_A_URL = [
  ...[
    '',
    ' ',
    'ftp://127.0.0.1',
    'http://user:secret@127.0.0.1',
    'http://127.0.0.1/#f',
    'http://127.0.0.1:65536',
    'file:/x',
  ],
];
const BLOCKED = ['http://127.0.0.1:0', 'http://127.0.0.1:6000', 'http://127.0.0.1:25/', 'http://127.0.0.1:10080'];

/** Values that are never right, by what the option or argument takes. */
const WRONG: Readonly<Record<string, readonly string[]>> = {
  n: NOT_A_NUMBER,
  seconds: NOT_A_NUMBER,
  time: NOT_A_TIME,
  type: NOT_A_TYPE,
  id: NOT_AN_ID,
  'key-id': NOT_AN_ID,
  url: NOT_A_URL,
  key: ['', ' ', 'a b', 'é', 'a\nb', 'x'.repeat(256)],
  'external-id': ['', ' ', 'a b', 'é', 'a\nb', 'x'.repeat(256)],
  name: ['', ' ', 'x'.repeat(101)],
  plan: ['', ' ', 'Gold', 'gold plan', 'x'.repeat(41)],
  message: ['', 'a\0b', 'x'.repeat(262_145), 'ä'.repeat(131_073)],
  event: ['', ' ', 'a b', 'a\nb'],
  path: ['', ' '],
  file: ['', ' '],
  command: ['', ' ', '\n'],
  header: ['', ' ', 'a', ': b'],
};
/** The service says what is wrong with these. */
const FREE = ['text', 'status', 'mode', 'how', 'scope', 'shell'];

/** Arguments with which each command would do something. */
const ARGUMENTS: Readonly<Record<string, string>> = {
  send: 'hello',
  consume: '--exec true',
  listen: '--forward-to localhost:3000',
  get: 'msg_x',
  attempts: 'msg_x',
  cancel: 'msg_x',
  delivery: 'pull',
  'keys create': 'name',
  'keys rotate': 'key_x --yes',
  'keys revoke': 'key_x --yes',
  'endpoints create': 'https://example.com',
  'endpoints get': 'ep_x',
  'endpoints update': 'ep_x --enable',
  'endpoints delete': 'ep_x --yes',
  'endpoints rotate-secret': 'ep_x --yes',
  'endpoints test': 'ep_x',
  'endpoints replay': 'ep_x --since 2026-11-21',
  'admin accounts create': 'Acme',
  'admin accounts get': 'acct_x',
  'admin accounts update': 'acct_x --plan pro',
  'admin accounts rename': 'acct_x Acme',
  'admin accounts suspend': 'acct_x',
  'admin accounts resume': 'acct_x',
  'admin accounts delete': 'acct_x --yes',
  'admin accounts portal-link': 'acct_x --scope messages:read',
  'admin accounts keys list': 'acct_x',
  'admin accounts keys create': 'acct_x name',
  'admin accounts keys revoke': 'acct_x key_x --yes',
  'admin bans lift': 'key_x',
  'admin plans get': 'gold',
  'admin plans put': 'gold --individual',
  'admin plans delete': 'gold --yes',
};

interface Wrong {
  readonly command: string;
  readonly what: string;
  readonly values: readonly string[];
  readonly args: (value: string) => readonly string[];
}

/** What follows from the definitions of the commands, so that a new option is tested as well. */
function wrongArguments(): Wrong[] {
  return leavesOf(new Program([]).command).flatMap(([path, command]) => {
    const given = (ARGUMENTS[path] ?? '').split(' ').filter((arg) => arg !== '');
    const options = command.options
      .filter(({ required, optional }) => required || optional)
      .map((option) => ({
        ...{ command: path, what: option.long ?? '', values: wrongFor(option) },
        args: (value: string) => [...path.split(' '), ...given, `${option.long ?? ''}=${value}`],
      }));
    const positional = command.registeredArguments.map((argument, at) => ({
      ...{ command: path, what: `<${argument.name()}>` },
      values: argument.argChoices ? [] : known(argument.name()),
      args: (value: string) => [...path.split(' '), ...given.with(at, value)],
    }));
    return [...options, ...(given.length === 0 ? [] : positional)].filter(({ values }) => values.length > 0);
  });
}

function leavesOf(command: Command, path: readonly string[] = []): [string, Command][] {
  if (command.commands.length === 0) return [[path.join(' '), command]];
  return command.commands.flatMap((child) => leavesOf(child, [...path, child.name()]));
}

function wrongFor(option: Option): readonly string[] {
  if (option.argChoices !== undefined) return ['', 'nothing'];
  const name = /[<[]([a-z-]+)/.exec(option.flags)?.[1] ?? '';
  return known(name);
}

function known(name: string): readonly string[] {
  const values = WRONG[name];
  if (values === undefined && !FREE.includes(name)) throw new Error(`No wrong values are known for <${name}>.`);
  return values ?? [];
}

describe('Wrong arguments', () => {
  let requests = 0;
  const server = createServer((request, response) => {
    requests++;
    request.resume();
    response.writeHead(500).end();
  });
  let cli: InProcessCli;
  let url: string;
  beforeAll(async () => {
    url = await listen(server);
    cli = new InProcessCli({ SLUICE_BASE_URL: url, SLUICE_API_KEY: 'slc_x', SLUICE_ADMIN_API_KEY: 'slc_y' });
  });
  afterAll(() => {
    cli.remove();
    server.close();
  });

  const refused = async (args: readonly string[]) => {
    requests = 0;
    const { code, stdout, stderr } = await cli.run(args);
    expect({ args, code, stdout, requests }).toEqual({ args, code: 2, stdout: '', requests: 0 });
    expect(stderr).toMatch(/^error: .+/);
    expect(stderr).not.toMatch(/secret|^ +at |undefined|Cannot read|TypeError/m);
    return stderr;
  };

  it.each(wrongArguments().map((wrong) => [wrong.command, wrong.what, wrong] as const))(
    'of %s, %s: exit code 2 before a request',
    async (_command, _what, { values, args }) => {
      for (const value of values) await refused(args(value));
    },
  );

  it.each(leavesOf(new Program([]).command).map(([path]) => path))('that are not UTF-8: %s', async (path) => {
    const given = (ARGUMENTS[path] ?? '').split(' ').filter((arg) => arg !== '');
    for (const args of [['caf\ufffd'], ['--metadata=drink=caf\ufffd'], ['--', '\ufffd']])
      expect(await refused([...path.split(' '), ...given, ...args])).toContain('not valid UTF-8');
  });

  it.each([
    ...[
      'list -n 0',
      'list -n 1000000001',
      'consume --exec true --concurrency 0',
      'consume --exec true --concurrency 101',
    ],
    ...['consume --exec true --lease 9', 'consume --exec true --lease 3601', 'listen -f localhost --timeout 0'],
    ...['listen -f localhost --timeout 3501', 'listen -f localhost --timeout 2147484', 'listen -f localhost -c 0'],
    ...['send x --metadata region', 'send x --metadata =eu', 'send x --jsonl', 'send x --type order.*'],
    ...[
      'list --endpoint ep_x --status queued',
      'list --status skipped -e ep_x',
      'list -e ep_x -t order.*',
      'retry --since 2999-01-01',
    ],
    ...['cancel', 'cancel msg_x --all', 'cancel msg_x --type order.*', 'cancel --all msg_x --since 2026-11-21'],
    ...['listen -f localhost -c 1000', 'consume --exec true --limit 0', 'send --batch --batch-size 0'],
    ...['send --batch --batch-size 1001', 'send --batch --from-line 0', 'keys rotate key_x --grace 2592001'],
    ...[
      'verify --duration 86401',
      'verify --callers 0',
      'verify --callers 1025',
      'verify --rate 0',
      'verify --settle 86401',
    ],
    ...['verify --messages 0', 'endpoints update ep_x --rate-limit 10001'],
    ...['admin accounts update acct_x --plan enterprise --per-minute 0 --per-day 1'],
    ...['admin accounts create Acme --plan enterprise --per-minute 1', 'admin accounts update acct_x --per-day 1'],
    ...['admin accounts update acct_x --plan enterprise --per-minute 1 --per-day 1000000001'],
    ...['admin plans put gold --per-minute 0 --per-day 1', 'admin plans put gold --per-minute 1 --per-day 1000000001'],
    ...[
      'admin plans put gold --individual --max-endpoints 101',
      'admin plans put gold --individual --max-endpoints no',
    ],
    ...['admin plans put gold --individual --max-stored-bytes 0', 'admin plans put gold --individual --per-day 1'],
  ])('out of range: %s', async (command) => {
    await refused(command.split(' '));
  });

  const withPeriod = leavesOf(new Program([]).command).filter(([, { options }]) =>
    ['--since', '--until'].every((flag) => options.some(({ long }) => long === flag)),
  );

  it.each(withPeriod)('a period without time: %s', async (path) => {
    const of = path.includes('usage') ? ['--by=day'] : path === 'endpoints replay' ? ['ep_x'] : [];
    for (const since of ['2026-11-21T12:00:00+02:00', '2026-11-21T10:00:00.001Z']) {
      const stderr = await refused([...path.split(' '), ...of, `--since=${since}`, '--until=2026-11-21T10:00:00Z']);
      expect(stderr).toContain('--until must be after --since');
    }
  });

  it.each([...NOT_A_URL, ...BLOCKED])('the URL %j, wherever there is one', async (text) => {
    await refused(['list', `--base-url=${text}`]);
    await refused(['listen', `--forward-to=${text}`]);
    await refused(['verify', `--url=${text}`]);
    if (text === '') return;
    process.env.SLUICE_BASE_URL = text;
    await refused(['whoami']).finally(() => (process.env.SLUICE_BASE_URL = url));
  });

  it.each(['', ' ', 'nowhere', 'http://10.0.0.1', 'https://10.0.0.1:4000', 'http://10.0.0.1:0', 'http://u:secret@a:1'])(
    'the URL %j of a receiver',
    async (text) => {
      await refused(['verify', '--consume', 'webhooks', `--receive=${text}`]);
    },
  );

  it.each([
    ['HTTP_PROXY', 'ftp://proxy'],
    ['http_proxy', 'http://user:secret@:'],
    ['HTTPS_PROXY', 'http://a b'],
    ['https_proxy', 'socks5://127.0.0.1:1080'],
  ])('the proxy %s=%s', async (name, text) => {
    process.env[name] = text;
    const stderr = await refused(['list']).finally(() => Reflect.deleteProperty(process.env, name));
    expect(stderr).toBe(`error: ${name} must be a URL like http://proxy.example.com:3128.\n`);
  });
});
