import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { programFor, PROGRAMS } from '../../apps/portal/views/messages/again.js';
import { accountForEach, sharedApi } from '../support/api.js';
import { CLI_SCRIPT } from '../support/cli.js';
import { ROOT } from '../support/processes.js';
import { describeUnless } from '../support/skipping.js';
import { missing, Visitor } from './visitor.js';
import type { Message } from '#client/index.js';

const run = promisify(execFile);
const HOSTILE = {
  message: `it's "$HOME" \`id\` $(id)\n\\n\nJSON\n<b>ü</b> 👩‍👧\u202e`,
  type: 'order.paid',
  metadata: { "o'clock": '$(id)', __proto__x: '' },
  orderingKey: `a'b"c`,
};
const CLIENT = pathToFileURL(join(ROOT, 'dist/libs/client/index.js')).href;

describe('A message of the portal', () => {
  const api = sharedApi();
  const account = accountForEach(api);
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-again-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it.each(PROGRAMS)('is sent again, whatever its text is, by what is copied as %s', async (program) => {
    const { id } = await api.sent(account, { body: HOSTILE });
    const message = (await api.ask(account, `GET /messages/${id}`)).body as unknown as Message;
    const text = programFor(program, message, api.url);
    const env = {
      ...{ PATH: process.env.PATH, HOME: folder },
      ...{ SLUICE_API_KEY: account.key, SLUICE_BASE_URL: api.url },
    };
    if (program === 'TypeScript') {
      await writeFile(join(folder, 'again.mjs'), text.replace('@sluice/client', CLIENT));
      await run(process.execPath, [join(folder, 'again.mjs')], { env });
    } else {
      const cli = `sluice() { '${process.execPath}' '${CLI_SCRIPT}' "$@"; }`;
      await writeFile(join(folder, 'again.sh'), `set -e\n${cli}\n${text}\n`);
      await run('sh', [join(folder, 'again.sh')], { env });
    }
    const { data } = (await api.ask(account, 'GET /messages')).body as { data: Message[] };
    expect(data).toHaveLength(2);
    expect(data[0]).toMatchObject(HOSTILE);
  });
});

describeUnless(missing)('In the portal, a message', () => {
  const api = sharedApi();
  const account = accountForEach(api);
  const visitor = Visitor.forEach();

  it('is sent again as a new one, by the keyboard', async () => {
    const { page } = visitor;
    const { id } = await api.sent(account, { body: HOSTILE });
    await visitor.visit(api.url, account.key, `#/messages/${id}`);
    await visitor.button('Send again').focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Send it again?' });
    await dialog.waitFor();
    await visitor.expectGoodLooks('portal-send-again');
    await visitor.button('Send a new message').focus();
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await page.getByText(id).waitFor({ state: 'detached' });
    const { data } = (await api.ask(account, 'GET /messages')).body as { data: Message[] };
    expect(data).toHaveLength(2);
    expect(data[0]).toMatchObject(HOSTILE);
    expect(page.url()).toContain(data[0]?.id ?? '');
  });

  it('is sent again once, also when the response was lost and the dialog was left', async () => {
    visitor.expects('502');
    const { page } = visitor;
    const { id } = await api.sent(account);
    await visitor.visit(api.url, account.key, `#/messages/${id}`);
    await page.route('**/messages', async (route) => route.fulfill({ response: await route.fetch(), status: 502 }), {
      times: 1,
    });
    for (const isLost of [true, false]) {
      await visitor.button('Send again').click();
      await visitor.button('Send a new message').click();
      if (isLost) {
        await page.getByRole('alert').waitFor();
        await page.keyboard.press('Escape');
      }
    }
    await page.getByText(id).waitFor({ state: 'detached' });
    expect((await api.ask(account, 'GET /messages')).body.data).toHaveLength(2);
  });

  it.each(PROGRAMS)('is copied as %s without the key', async (program) => {
    const { page } = visitor;
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const { id } = await api.sent(account, { body: HOSTILE });
    await visitor.visit(api.url, account.key, `#/messages/${id}`);
    await visitor.button(`Copy the message for ${program}`).click();
    await page.getByText(`The message for ${program} is copied.`).waitFor();
    const copied = String(await page.evaluate('navigator.clipboard.readText()'));
    expect(copied).not.toContain(account.key);
    const message = (await api.ask(account, `GET /messages/${id}`)).body as unknown as Message;
    expect(copied).toBe(programFor(program, message, api.url));
  });
});
