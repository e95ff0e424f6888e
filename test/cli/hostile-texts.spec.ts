import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { listen } from '../support/processes.js';
import { InProcessCli } from '../support/in-process-cli.js';

/** What moves the cursor, sets colours and titles, turns text around, or is not seen at all. */
const EVIL =
  'a\u001b[2J\u001b]0;t\u0007\u0000\b\r\n\tb\u007f\u0085\u009b31m\u061c\u200f\u2028\u202e\u2066\u2069\ufeff\ufff9\u{e0041}\u{e007f}z';
const HIDDEN =
  // oxlint-disable-next-line no-control-regex -- these must not be there
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb]|\u{e0041}|\u{e007f}/u;
// oxlint-disable-next-line no-control-regex -- colours and the bar of the program itself
const OWN = /\u001b\[(0|2|22|3[0-9]|39|9[0-7])m|\r\u001b\[2K/g;

const AT = '2026-11-21T09:30:00.000Z';
const MESSAGE = {
  ...{ id: EVIL, message: EVIL, status: EVIL, createdAt: EVIL, updatedAt: EVIL, delivery: EVIL, deliverAt: EVIL },
  ...{
    attempts: 1,
    failureReason: EVIL,
    type: EVIL,
    metadata: { [EVIL]: EVIL },
    orderingKey: EVIL,
    nextAttemptAt: EVIL,
  },
};
const KEY = {
  id: EVIL,
  name: EVIL,
  hint: EVIL,
  key: EVIL,
  scopes: [EVIL],
  createdAt: EVIL,
  expiresAt: EVIL,
  lastUsedAt: EVIL,
};
const ENDPOINT = {
  ...{ id: EVIL, url: EVIL, description: EVIL, rateLimitPerSecond: 0, enabled: false, createdAt: EVIL, secret: EVIL },
  ...{ disabledAt: EVIL, disabledReason: EVIL, failingSince: EVIL, types: [EVIL], headers: [EVIL] },
};
const ACCOUNT = {
  ...{
    id: EVIL,
    name: EVIL,
    plan: EVIL,
    limits: { perMinute: 1_000, perDay: 1_000 },
    delivery: EVIL,
    suspended: false,
    paused: true,
    externalId: EVIL,
  },
  ...{ createdAt: EVIL, requestedAt: EVIL, apiKey: KEY },
};
const WINDOW = { used: 1, limit: 2, remaining: 1, resetsAt: AT };
const USAGE = {
  ...{ minute: WINDOW, day: WINDOW, storage: { usedBytes: 1, limitBytes: 2 } },
  messages: { queued: 1, scheduled: 0, deliveredPerMinute: 0, oldestQueuedAt: AT },
};
const ATTEMPT = {
  ...{ number: 1, outcome: EVIL, target: EVIL, startedAt: EVIL, durationMs: 1, responseStatus: 200, error: EVIL },
  responseBody: EVIL,
};
const COUNTS = { accepted: 1, acceptedBytes: 1, delivered: 1, failed: 0, cancelled: 0 };
const PERIOD = { start: EVIL, accountId: EVIL, externalId: EVIL, ...COUNTS };
const BAN = { keyId: EVIL, accountId: EVIL, bannedAt: EVIL, bannedUntil: EVIL, reason: EVIL };

const PLAN = { name: EVIL, limits: null, maxStoredBytes: null, maxEndpoints: null, accounts: 1, version: 1 };
const ENTRY = {
  ...{ id: EVIL, at: AT, operator: EVIL, action: EVIL, subject: EVIL, accountId: EVIL },
  ...{ before: { [EVIL]: EVIL }, after: EVIL },
};

/** The response to each request; the first that matches. */
const RESPONSES: readonly (readonly [RegExp, unknown])[] = [
  [/^POST \/messages\/(batch)/, { data: [MESSAGE] }],
  [/^POST \/messages\/(retry|cancel)$/, { count: 1 }],
  [/\/attempts/, { data: [ATTEMPT] }],
  [/^GET \/messages\?/, { data: [MESSAGE], nextCursor: null }],
  [/\/messages/, MESSAGE],
  [/^GET \/(admin\/accounts\/acct_x\/)?(api-)?keys(\?|$)/, { data: [KEY], nextCursor: null }],
  [/^GET \/endpoints(\?|$)/, { data: [ENDPOINT], nextCursor: null }],
  [/\/test/, { status: 200, durationMs: 1, error: EVIL, body: EVIL }],
  [/\/replay/, { count: 1 }],
  [/endpoints/, ENDPOINT],
  [/^GET \/admin\/bans/, { data: [BAN], nextCursor: null }],
  [/^GET \/admin\/plans(\?|$)/, { data: [PLAN], nextCursor: null }],
  [/^GET \/admin\/audit/, { data: [ENTRY], nextCursor: null }],
  [/plans/, PLAN],
  [/^GET \/admin\/accounts(\?|$)/, { data: [ACCOUNT], nextCursor: null }],
  [/usage\/history|admin\/usage/, { data: [PERIOD], nextCursor: null }],
  [/usage/, USAGE],
  [/keys/, KEY],
  [/./, ACCOUNT],
];

const COMMANDS = [
  ...[
    'send hello',
    'send --batch --file lines',
    'list',
    'get msg_x',
    'attempts msg_x',
    'cancel msg_x msg_y',
    'retry msg_x',
  ],
  ...[
    'retry --since 2026-11-21',
    'tail',
    'usage',
    'usage --by hour',
    'delivery',
    'delivery pull',
    'pause',
    'resume',
    'whoami',
    'login',
    'logout',
    'keys list',
  ],
  ...['keys create name', 'keys rotate key_x --yes', 'keys revoke key_x --yes', 'endpoints list', 'endpoints get ep_x'],
  ...['endpoints create https://example.com', 'endpoints update ep_x --enable', 'endpoints delete ep_x --yes'],
  ...['endpoints rotate-secret ep_x --yes', 'endpoints test ep_x', 'endpoints replay ep_x --since 2026-11-21'],
  ...['list', 'get acct_x', 'update acct_x --plan pro', 'suspend acct_x', 'resume acct_x', 'rename acct_x name'].map(
    (command) => `admin accounts ${command}`,
  ),
  ...[
    'create name',
    'delete acct_x --yes',
    'keys list acct_x',
    'keys create acct_x name',
    'portal-link acct_x --scope messages:read',
  ].map((command) => `admin accounts ${command}`),
  ...['admin accounts keys revoke acct_x key_x --yes', 'admin bans list', 'admin bans lift key_x'],
  ...['consume --exec true', 'listen --forward-to localhost:3000'],
  ...['admin plans list', 'admin plans get x', 'admin plans put x --individual', 'admin plans delete x --yes'],
  ...['admin audit'],
  ...['admin usage', 'admin usage --csv', 'admin usage --account acct_x', 'usage --by day --csv'],
  ...['admin accounts list --external-id x', 'admin accounts update acct_x --external-id x'],
  ...['cancel --type order.*', 'list --type order.paid'],
];

describe('Texts of a hostile server', () => {
  let isRefusing = false;
  /** Whether results have nothing but an id, as those of something else or of another version may. */
  let isBare = false;
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const call = `${request.method ?? ''} ${request.url ?? ''}`;
    request.resume();
    if (isRefusing) {
      const problem = { type: EVIL, title: EVIL, status: 400, detail: EVIL, code: EVIL, requestId: EVIL };
      response.writeHead(400, { 'content-type': 'application/problem+json' });
      response.end(JSON.stringify({ ...problem, errors: [{ pointer: EVIL, detail: EVIL }] }));
    } else if (call.startsWith('GET /events')) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(`event: message.queued\nid: 1\ndata: ${JSON.stringify(isBare ? { id: 'x' } : MESSAGE)}\n\n`);
      isRefusing = true;
    } else {
      const [, body] = RESPONSES.find(([pattern]) => pattern.test(call)) ?? [];
      const bare =
        (body as { data?: unknown }).data === undefined
          ? { id: 'x', count: 1 }
          : { data: [{ id: 'x' }], nextCursor: null };
      response.setHeader('ratelimit', '"minute";r=100;t=1').end(JSON.stringify(isBare ? bare : body));
    }
  });
  let cli: InProcessCli;

  beforeAll(async () => {
    const SLUICE_BASE_URL = await listen(server);
    cli = new InProcessCli({ SLUICE_BASE_URL, SLUICE_API_KEY: 'slc_x', SLUICE_ADMIN_API_KEY: 'slc_y' });
    writeFileSync(join(cli.home, 'lines'), 'one\n');
  });
  afterAll(() => {
    cli.remove();
    server.close();
    server.closeAllConnections();
  });

  const run = (command: string, options: readonly string[], isTerminal: boolean) => {
    const args = command.split(' ').map((arg) => (arg === 'lines' ? join(cli.home, 'lines') : arg));
    return cli.run([...args, ...options], { isTerminal });
  };

  describe.each([
    ['a pipe', [], false],
    ['a terminal', [], true],
    ['a pipe, as JSON', ['--json'], false],
    ['a terminal, as JSON', ['--json'], true],
  ] as const)('in %s', (_, options, isTerminal) => {
    it.each(
      COMMANDS.flatMap(
        (command) =>
          [
            [command, false],
            [command, true],
          ] as const,
      ),
    )('do not control it: %s (refused: %s)', async (command, isRefused) => {
      isRefusing = isRefused;
      const { stdout, stderr } = await run(command, options, isTerminal);
      const shown = stdout + stderr;
      expect(shown).not.toBe('');
      expect(isTerminal ? shown.replace(OWN, '') : shown).not.toMatch(HIDDEN);
    });
  });

  it.each(COMMANDS)('are missed in a sentence: %s', async (command) => {
    [isRefusing, isBare] = [false, true];
    for (const isTerminal of [false, true]) {
      const { code, stderr } = await run(command, [], isTerminal);
      expect([0, 1, 3, 5]).toContain(code);
      expect(stderr).not.toMatch(/undefined|null|is not (a|iterable)|NaN/);
    }
    isBare = false;
  });

  // Programs get arguments from others, too.
  it.each([
    ...[
      [EVIL],
      ['get', EVIL],
      ['cancel', EVIL],
      ['list', EVIL],
      [`--${EVIL}`],
      ['send', 'a', `--${EVIL}`],
      ['help', EVIL],
    ],
    ...[
      ['send', 'a', '--deliver-at', EVIL],
      ['send', 'a', '--metadata', EVIL],
      ['list', '--status', EVIL],
    ],
    ...[
      ['list', '--limit', EVIL],
      ['endpoints', 'add', EVIL],
      ['endpoints', 'get', EVIL],
      ['keys', 'revoke', EVIL],
    ],
    ...[
      ['send', '--batch', EVIL],
      ['send', '--batch', 'lines', '--state', EVIL],
      ['tail', '--after', EVIL],
    ],
    ...[
      ['listen', '--forward-to', EVIL],
      ['--base-url', EVIL, 'whoami'],
      ['completion', EVIL],
      ['delivery', EVIL],
    ],
    ...[
      ['admin', 'accounts', 'get', EVIL],
      ['admin', 'audit', '--since', EVIL],
      ['verify', '--minutes', EVIL],
    ],
  ])('do not control the terminal as arguments: %j', async (...args) => {
    for (const [options, isTerminal] of [
      [[], false],
      [[], true],
      [['--json'], true],
    ] as const) {
      const { stdout, stderr } = await cli.run([...args.map((arg) => arg.replaceAll('\u0000', '')), ...options], {
        isTerminal,
      });
      expect((stdout + stderr).replace(OWN, '')).not.toMatch(HIDDEN);
    }
  });

  it.each([
    ['get msg_x', MESSAGE],
    ['list', [MESSAGE]],
    ['attempts msg_x', [ATTEMPT]],
    ['endpoints get ep_x', ENDPOINT],
    ['admin bans list', [BAN]],
    ['admin plans list', [PLAN]],
    ['admin audit', [ENTRY]],
    ['cancel msg_x', MESSAGE],
  ] as const)('are the same in the JSON of %s once it is parsed', async (command, expected) => {
    isRefusing = false;
    for (const isTerminal of [false, true]) {
      expect(JSON.parse((await run(command, ['--json'], isTerminal)).stdout)).toEqual(expected);
    }
  });
});
