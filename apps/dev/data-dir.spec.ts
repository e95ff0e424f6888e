import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataDir } from './data-dir.js';

describe('DATA_DIR', () => {
  let folder: string;
  let dataDir: DataDir;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-data-'));
    dataDir = await DataDir.open(join(folder, 'new', 'data'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  it('keeps each secret from its first start on, for its owner only', async () => {
    const [pepper, key] = [await dataDir.secret('pepper'), await dataDir.secret('key')];
    expect(pepper).toMatch(/^[0-9a-f]{64}$/);
    expect(key).not.toBe(pepper);
    const again = await DataDir.open(dataDir.path);
    expect([await again.secret('pepper'), await again.secret('key')]).toEqual([pepper, key]);
    expect(statSync(dataDir.file('pepper')).mode & 0o777).toBe(0o600);
    expect(readdirSync(dataDir.path).sort()).toEqual(['key', 'pepper']);
  });

  it.each(['', 'short', 'x'.repeat(64)])('is refused, and left alone, with a damaged secret: %j', async (text) => {
    writeFileSync(dataDir.file('pepper'), text);
    await expect(dataDir.secret('pepper')).rejects.toThrow('does not contain a secret of 64 hexadecimal digits');
    expect(readFileSync(dataDir.file('pepper'), 'utf8')).toBe(text);
  });

  it('keeps what is replaced under another name', async () => {
    await dataDir.replace('dev-key', 'slc_one');
    await dataDir.replace('dev-key', 'slc_two');
    expect(await dataDir.read('dev-key')).toBe('slc_two');
    const [kept = ''] = readdirSync(dataDir.path).filter((name) => name.startsWith('dev-key.until-'));
    expect(readFileSync(dataDir.file(kept), 'utf8')).toBe('slc_one\n');
  });

  it('reads nothing of a file that is not there, and must be a folder to write into', async () => {
    expect(await dataDir.read('none')).toBeUndefined();
    writeFileSync(join(folder, 'file'), '');
    await expect(DataDir.open(join(folder, 'file'))).rejects.toThrow('set DATA_DIR to a writable folder');
    expect(existsSync(join(folder, 'file'))).toBe(true);
  });
});
