import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UsageError } from '#platform/process/usage-error.js';
import { DataDir } from './data-dir.js';

const SECRET = 'a'.repeat(64);

describe('The folder for data', () => {
  let folder: string;
  const file = () => join(folder, 'pepper');
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-data-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  const failure = (act: Promise<unknown>) =>
    act.then(
      () => 'It did not fail.',
      (error: unknown) => {
        if (error instanceof UsageError) return error.message;
        throw error;
      },
    );

  it('keeps a secret that it has made, in a file of its owner', async () => {
    const secret = await (await DataDir.open(folder)).secret('pepper');
    expect(secret).toMatch(/^[0-9a-f]{64}$/);
    expect(await (await DataDir.open(folder)).secret('pepper')).toBe(secret);
    expect(statSync(file()).mode & 0o777).toBe(0o600);
  });

  it.each(['', '\n', 'garbage', SECRET.slice(1), `${SECRET}b`, '\u0000', SECRET.toUpperCase(), `${SECRET}\n${SECRET}`])(
    'replaces no secret that is damaged: %j',
    async (content) => {
      writeFileSync(file(), content);
      chmodSync(file(), 0o600);
      expect(await failure((await DataDir.open(folder)).secret('pepper'))).toMatch(
        /pepper does not contain a secret of 64 hexadecimal digits: restore it or set DATA_DIR\.$/,
      );
      expect(readFileSync(file(), 'utf8')).toBe(content);
    },
  );

  it('refuses a secret that is a folder or a circular link, and follows other links', async () => {
    const dataDir = await DataDir.open(folder);
    mkdirSync(file());
    expect(await failure(dataDir.secret('pepper'))).toBe(`${file()} can't be read (EISDIR).`);
    symlinkSync('circle', join(folder, 'circle'));
    expect(await failure(dataDir.secret('circle'))).toBe(`${join(folder, 'circle')} can't be read (ELOOP).`);
    writeFileSync(join(folder, 'target'), SECRET, { mode: 0o600 });
    symlinkSync('target', join(folder, 'link'));
    expect(await dataDir.secret('link')).toBe(SECRET);
  });

  it('keeps what it replaces under another name', async () => {
    const dataDir = await DataDir.open(folder);
    await dataDir.replace('key', 'first');
    await dataDir.replace('key', 'second');
    const contents = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
    expect(contents.sort()).toEqual(['first\n', 'second\n']);
    expect(readFileSync(join(folder, 'key'), 'utf8')).toBe('second\n');
  });

  it.each([0o666, 0o644, 0o640, 0o620])('reports a secret with the mode %o', async (mode) => {
    const warn = jest.spyOn(console, 'warn').mockImplementation();
    writeFileSync(file(), SECRET);
    chmodSync(file(), mode);
    expect(await (await DataDir.open(folder)).secret('pepper')).toBe(SECRET);
    expect(warn.mock.calls).toEqual([[expect.stringMatching(/^Other users may use .*pepper.* chmod 600 /)]]);
    warn.mockRestore();
  });

  it('must be a folder', async () => {
    writeFileSync(file(), '');
    for (const path of [file(), join(file(), 'below')]) {
      expect(await failure(DataDir.open(path))).toBe(`${path} is not a folder: set DATA_DIR to a folder.`);
    }
  });

  it.each(['/proc/sluice', '/proc/1/below/sluice', '/sys/sluice'])(
    'cannot be %s, where there are no new ones',
    async (path) => {
      expect(await failure(DataDir.open(path))).toMatch(
        / is not writable \(\w+\): set DATA_DIR to a writable folder\.$/,
      );
    },
  );

  it('is created with those above it', async () => {
    const path = join(folder, 'a/b');
    await (await DataDir.open(path)).secret('pepper');
    expect(readdirSync(path)).toEqual(['pepper']);
  });
});
