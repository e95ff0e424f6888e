import fs, { linkSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { CredentialsFile } from './credentials.js';

const ONE = 'https://one.example.com';
const OTHER = 'https://other.example.com';

describe('The stored credentials', () => {
  const configured = process.env.XDG_CONFIG_HOME;
  let home: string;
  let file: CredentialsFile;

  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'sluice-credentials-'));
    process.env.XDG_CONFIG_HOME = home;
    file = new CredentialsFile(() => undefined);
  });
  afterEach(() => {
    jest.restoreAllMocks();
    rmSync(home, { recursive: true });
    if (configured === undefined) delete process.env.XDG_CONFIG_HOME;
    else process.env.XDG_CONFIG_HOME = configured;
  });

  const modeOf = (path: string) => statSync(path).mode & 0o777;

  it.each([0o000, 0o022, 0o077, 0o777])('can be read only by its owner, at any time, with a umask of %o', (mask) => {
    const modes: number[] = [];
    const { chmodSync } = fs;
    jest.spyOn(fs, 'chmodSync').mockImplementation((path, mode) => {
      modes.push(modeOf(String(path)));
      chmodSync(path, mode);
    });
    // The folder exists already: with 777 nobody could write into a new one.
    if (mask === 0o777) file.save(OTHER, { apiKey: 'slc_other' });
    const before = process.umask(mask);
    try {
      file.save(ONE, { apiKey: 'slc_one' });
    } finally {
      process.umask(before);
    }
    expect(modeOf(file.path)).toBe(0o600);
    expect(modes.every((mode) => (mode & 0o077) === 0)).toBe(true);
    expect(modeOf(dirname(file.path)) & 0o077).toBe(0);
    expect(file.entry(ONE)).toEqual({ apiKey: 'slc_one' });
  });

  it('becomes private when others could read it', () => {
    file.save(ONE, { apiKey: 'slc_one' });
    fs.chmodSync(file.path, 0o644);
    file.select(ONE);
    expect(modeOf(file.path)).toBe(0o600);
  });

  it('is replaced atomically', () => {
    file.save(ONE, { apiKey: 'slc_one' });
    const kept = join(home, 'kept');
    linkSync(file.path, kept);
    const before = readFileSync(kept, 'utf8');
    file.save(ONE, { apiKey: 'slc_two' });
    expect(readFileSync(kept, 'utf8')).toBe(before);
    expect(readdirSync(dirname(file.path))).toEqual(['credentials.json']);
  });

  it('keeps the keys of each service apart', () => {
    file.save(ONE, { apiKey: 'slc_one' });
    file.save(ONE, { operatorKey: 'operators' });
    file.select(ONE);
    expect(file.entry(OTHER)).toEqual({});
    file.save(OTHER, { apiKey: 'slc_other', listenSecret: 'whsec_x' });
    expect([file.entry(ONE), file.current]).toEqual([{ apiKey: 'slc_one', operatorKey: 'operators' }, ONE]);
    file.forgetApiKey(OTHER);
    expect(file.entry(OTHER)).toEqual({ listenSecret: 'whsec_x' });
    expect([file.forget(ONE), file.forget(ONE), file.forget(OTHER)]).toEqual([true, false, false]);
    expect([file.entry(ONE), file.current]).toEqual([{}, undefined]);
    expect(readFileSync(file.path, 'utf8')).not.toMatch(/slc_|operators|whsec_/);
  });

  it('is neither overwritten nor shown when it is damaged', () => {
    file.save(ONE, { apiKey: 'slc_one' });
    writeFileSync(file.path, '{"services": {"x": "slc_one"');
    expect(() => {
      file.save(ONE, { apiKey: 'slc_two' });
    }).toThrow(/^(?!.*slc_).*is not a file of sluice login/);
    expect(readFileSync(file.path, 'utf8')).toContain('slc_one');
  });
});
