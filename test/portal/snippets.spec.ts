import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { snippet, type Language } from '../../apps/portal/snippets.js';
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
