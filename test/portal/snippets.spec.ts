import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Webhook } from 'standardwebhooks';
import { snippet, VERIFY_SNIPPET, type Language } from '../../apps/portal/text/snippets.js';
import { accountForEach, sharedApi } from '../support/api.js';
import { describeUnless } from '../support/skipping.js';

const run = promisify(execFile);

/** How to run a file of each language. The request in TypeScript has no types, so that every Node.js runs it. */
const RUNNERS: readonly (readonly [Language, string, ...string[]])[] = [
  ['curl', 'sh', 'send.sh'],
  ['TypeScript', 'node', 'send.mjs'],
  ['Python', 'python3', 'send.py'],
  ['Go', 'go', 'run', 'send.go'],
];

describe.each(RUNNERS)('The request in %s', (language, program, ...args) => {
  const isMissing = spawnSync(program, ['--help']).error !== undefined;

  describeUnless(isMissing ? `no ${program} to run the request in ${language} with.` : null)('as it is pasted', () => {
    const api = sharedApi();
    const account = accountForEach(api);
    let folder: string;
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'sluice-snippet-'));
    });
    afterAll(() => rm(folder, { recursive: true, force: true }));

    it('sends the message', async () => {
      await writeFile(join(folder, args.at(-1) ?? ''), snippet(language as Language, api.url, account.key));
      await run(program, args, { cwd: folder });
      expect(await api.stored(account)).toMatchObject({ messages: 1 });
    });
  });
});

describe('The function that verifies signatures', () => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const body = '{"type":"message"}';
  const signed = (at: Date, by = secret) => ({
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(by).sign('msg_1', at, body),
  });
  const isGenuine = async (headers: object, received = body) => {
    const call = `console.log(isGenuine(${JSON.stringify(headers)}, ${JSON.stringify(received)}))`;
    const args = ['--input-type=module', '-e', `${VERIFY_SNIPPET}\n${call}`];
    return (await run(process.execPath, args, { env: { ...process.env, WEBHOOK_SECRET: secret } })).stdout.trim();
  };
  const now = new Date();
  const other = signed(now, `whsec_${Buffer.alloc(32, 8).toString('base64')}`);
  const own = signed(now);

  it.each([
    ['a genuine request', own, body, 'true'],
    [
      'one that is signed with an old secret as well',
      {
        ...own,
        'webhook-signature': `${other['webhook-signature']} ${own['webhook-signature']}`,
      },
      body,
      'true',
    ],
    ['another body', own, `${body} `, 'false'],
    ['another secret', other, body, 'false'],
    ['another id', { ...own, 'webhook-id': 'msg_2' }, body, 'false'],
    ['an old request', signed(new Date(now.getTime() - 301_000)), body, 'false'],
    ['no headers', {}, body, 'false'],
  ])('says of %s whether it is genuine', async (_what, headers, received, expected) => {
    expect(await isGenuine(headers, received)).toBe(expected);
  });
});
