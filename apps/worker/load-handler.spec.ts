import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { aDelivery } from '../../test/support/messages.js';
import { isPathOrPackage, loadHandler } from './load-handler.js';

const DELIVERY = aDelivery({ message: 'hello' });

describe('loadHandler', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-handler-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  let files = 0;
  async function write(source: string, name = `./handler-${++files}.mjs`): Promise<string> {
    await writeFile(join(folder, name), source);
    return name;
  }
  const load = async (source: string) => loadHandler(await write(source), folder);

  it.each([
    ['an async function', 'export default async function ({ message }, signal) { SAY }'],
    ['a function', 'export default ({ message }, signal) => { SAY };'],
    [
      'a class',
      'export default class { to = message => SEEN(message); handle({ message }, signal) { this.to([message, signal.aborted]); } }',
    ],
    ['a class with a function as a property', 'export default class { handle = ({ message }, signal) => { SAY } }'],
    [
      'a constructor of older JavaScript',
      'function Old() {} Old.prototype.handle = function ({ message }, signal) { SAY }; export default Old;',
    ],
    ['a bound function', 'export default (function ({ message }, signal) { SAY }).bind(null);'],
    ['a class that inherits', 'class A { handle({ message }, signal) { SAY } } export default class extends A {}'],
    ['an object', 'export default { handle({ message }, signal) { SAY } };'],
  ])('calls %s with the delivery and the signal', async (_what, source) => {
    const seen: unknown[] = [];
    Object.assign(globalThis, { SEEN: (what: unknown) => seen.push(what) });
    const handler = await load(source.replace('SAY', 'SEEN([message, signal.aborted]);'));
    await handler.handle(DELIVERY, AbortSignal.abort());
    expect(seen).toEqual([['hello', true]]);
  });

  it('fails the attempt with what a handler throws, also synchronously', async () => {
    const handler = await load(`export default () => { throw new Error('no'); };`);
    await expect(handler.handle(DELIVERY, AbortSignal.timeout(1_000))).rejects.toThrow('no');
  });

  it.each([
    ['a function', '() => async () => undefined'],
    ['a promise of a function', 'async () => () => undefined'],
    ['a generator', '() => (function* () {})()'],
    ['an asynchronous generator', '() => (async function* () {})()'],
    ['an iterator', '() => [1].values()'],
    ['an object with the method', 'async () => ({ handle() {} })'],
    ['an instance of a class', 'async () => new (class { handle() {} })()'],
  ])('fails the attempt when the handler returns what nothing calls: %s', async (_what, source) => {
    const handler = await load(`export default ${source};`);
    await expect(handler.handle(DELIVERY, AbortSignal.timeout(1_000))).rejects.toThrow('which nothing calls');
  });

  it('fails the attempt when the handler returns a list of promises, once all have ended', async () => {
    const ended: unknown[] = [];
    Object.assign(globalThis, { ENDED: (what: unknown) => ended.push(what) });
    const handler = await load(`
      export default () => [1, 2].map(async (one) => {
        await new Promise(setImmediate);
        ENDED(one);
        if (one === 1) throw new Error('no');
      });`);
    await expect(handler.handle(DELIVERY, AbortSignal.timeout(1_000))).rejects.toThrow('which nothing awaits');
    expect(ended).toEqual([1, 2]);
  });

  it.each([
    ['a list', '() => [1, null]'],
    ['an object', '() => ({ ok: true, next: null, handle: 1 })'],
    ['a thenable', '() => ({ then: (done) => done(1) })'],
  ])('delivers when it returns %s', async (_what, source) => {
    const handler = await load(`export default ${source};`);
    await expect(handler.handle(DELIVERY, AbortSignal.timeout(1_000))).resolves.toBeUndefined();
  });

  it.each([
    ['for import only', { exports: { import: './index.js' } }],
    ['as a part, for import only', { exports: { '.': { import: './index.js' } } }],
    ['by its main file', { main: 'index.js' }],
    ['for both', { exports: { import: './index.mjs', require: './index.js' } }],
  ])('finds a package that exports its handler %s', async (what, manifest) => {
    const name = what.replace(/\W/g, '-');
    await mkdir(join(folder, 'node_modules', name), { recursive: true });
    await write(JSON.stringify({ name, ...manifest }), `node_modules/${name}/package.json`);
    // Jest loads it as CommonJS.
    await write('module.exports = () => undefined;', `node_modules/${name}/index.js`);
    await expect(loadHandler(name, folder)).resolves.toHaveProperty('handle');
  });

  it('finds a package that is installed in the folder', async () => {
    await mkdir(join(folder, 'node_modules', '@acme', 'handler'), { recursive: true });
    await write('module.exports = { default: () => undefined };', 'node_modules/@acme/handler/index.js');
    await expect(loadHandler('@acme/handler', folder)).resolves.toHaveProperty('handle');
  });

  const ENDED = 'which ended the process while it was loaded.';
  const LOADED = 'export default () => undefined;';
  it.each([
    ['is never loaded', 'await new Promise(() => undefined);', 'whose top-level await has not ended within 2 s.', 1],
    ['has an error of syntax', 'export default (', 'which cannot be loaded: SyntaxError: ', 1],
    ['throws', "throw new Error('broken');", 'which cannot be loaded: Error: broken', 1],
    ['exits', 'process.exit();', ENDED, 1],
    ['exits as if nothing were wrong', 'process.exit(0);', ENDED, 1],
    ['exits with a code', 'process.exit(7);', ENDED, 7],
    ['exits later', 'setTimeout(process.exit); await new Promise(() => undefined);', ENDED, 1],
    ['exits where it catches errors', 'try { process.exit(0); } catch {}', ENDED, 1],
    ['exits in its constructor', 'export default class { constructor() { process.exit(0); } handle() {} }', ENDED, 1],
    ['has an error in a timer', "setTimeout(() => { throw 'no'; }); await new Promise(() => undefined);", ENDED, 1],
    ['has a rejection that nothing handles', "Promise.reject('no'); await new Promise(() => undefined);", ENDED, 1],
  ])('ends the process with a sentence and an error if the module %s', async (_what, source, sentence, code) => {
    const name = await write(source.includes('export') ? source : `${source}\n${LOADED}`);
    // Jest loads no module with a top-level await.
    const script = `import { loadHandler } from './dist/apps/worker/load-handler.js';
      await loadHandler(${JSON.stringify(name)}, ${JSON.stringify(folder)}, 2000).catch(({ message }) => {
        process.stderr.write(message);
        process.exit(1);
      });`;
    const { stderr, status } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
    expect(stderr).toContain(`HANDLER names "${name}", ${sentence}`);
    expect(status).toBe(code);
  });

  it.each([
    ['a file that does not exist', './missing.mjs', /neither a handler of Sluice nor found from/],
    ['a package that is not installed', 'no-such-handler', /neither a handler of Sluice nor found from/],
    ['a module that throws', `throw new Error('broken');`, /cannot be loaded: Error: broken/],
    ['a module that throws no error', `throw Object.create(null);`, /cannot be loaded: \[Object: null prototype\]/],
    [
      'a class that throws',
      `export default class { constructor() { throw new Error('no'); } handle() {} }`,
      /loaded: Error: no/,
    ],
    ['a class without the method', 'export default class { run() {} }', /has none/],
    ['a generator', 'export default function* () {}', /no generator; .* has none/],
    ['an asynchronous generator', 'export default async function* () {}', /has none/],
    ['an object with a generator', 'export default { *handle() {} };', /has none/],
    ['a module of Node.js', 'fs', /neither a handler of Sluice nor found from/],
    ['no default export', 'export const handle = () => undefined;', /has none/],
    ['an object without the method', 'export default { handler() {} };', /has none/],
    ['a value', 'export default 1;', /has none/],
    ['nothing', 'export default null;', /has none/],
  ])('rejects %s', async (_what, source, message) => {
    const name = source.includes(' ') ? await write(source) : source;
    await expect(loadHandler(name, folder)).rejects.toThrow(message);
  });
});

it.each([
  ...(['./my-handler.js', '../a/b.mjs', '/srv/handler.cjs', '@acme/handler', 'acme-handler/dist/x.js', 'lgo'] as const),
])('HANDLER may be %s', (text) => {
  expect(isPathOrPackage(text)).toBe(true);
});

it.each(['Http', 'my handler', 'https://acme.example/handler.js', 'a/../../b\n', '@acme'])(
  'HANDLER may not be %j',
  (text) => {
    expect(isPathOrPackage(text)).toBe(false);
  },
);
