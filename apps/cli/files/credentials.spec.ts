import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { CliError } from '../support/exit-codes.js';
import { CredentialsFile } from './credentials.js';

const URL = 'https://sluice.example.com';

describe('The credentials file', () => {
  let home: string;
  let warnings: string[];
  let file: CredentialsFile;

  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'sluice-credentials-'));
    process.env.XDG_CONFIG_HOME = home;
    warnings = [];
    file = new CredentialsFile((sentence) => warnings.push(sentence));
    mkdirSync(dirname(file.path), { recursive: true });
  });
  afterEach(() => {
    delete process.env.XDG_CONFIG_HOME;
    rmSync(home, { recursive: true, force: true });
  });

  const save = () => {
    file.save(URL, { apiKey: 'k' });
  };

  function failure(act: () => unknown): CliError {
    try {
      act();
    } catch (error) {
      if (error instanceof CliError) return error;
      throw error;
    }
    throw new Error('It did not fail.');
  }

  it.each([
    ...['', ' ', '{', 'null', '[]', '1', '"text"', 'true', '{"services":null}', '{"services":[]}', '{"services":"x"}'],
    ...[`{"services":{"${URL}":null}}`, `{"services":{"${URL}":"slc_x"}}`, `{"services":{"${URL}":{"apiKey":1}}}`],
    ...[
      '{"current":1,"services":{}}',
      '{"current":"nowhere","services":{}}',
      '{"current":null}',
      '\u0000\u0001',
      '<html>',
    ],
  ])('fails with a sentence and writes nothing if its content is %j', (content) => {
    writeFileSync(file.path, content, { mode: 0o600 });
    for (const act of [() => file.current, () => file.entry(URL), save]) {
      expect(failure(act).message).toBe(
        `${file.path} is not a file of sluice login: remove it, then run sluice login.`,
      );
    }
    expect(readFileSync(file.path, 'utf8')).toBe(content);
  });

  it.each([
    [
      'a folder',
      (path: string) => {
        mkdirSync(path);
      },
      'it is a folder',
    ],
    [
      'a link to itself',
      (path: string) => {
        symlinkSync(path, path);
      },
      'its links lead in a circle',
    ],
    [
      'a link to a device without an end',
      (path: string) => {
        symlinkSync('/dev/zero', path);
      },
      'it is not a regular file',
    ],
    [
      'a pipe into which nobody writes',
      (path: string) => {
        execFileSync('mkfifo', [path]);
      },
      'it is not a regular file',
    ],
    [
      'far too large',
      (path: string) => {
        writeFileSync(path, '{}');
        truncateSync(path, 2 ** 40);
      },
      'it is larger than any file of sluice',
    ],
    [
      'below a file',
      (path: string) => {
        rmSync(dirname(path), { recursive: true });
        writeFileSync(dirname(path), '');
      },
      'a part of the path is not a folder',
    ],
  ])('fails with a sentence if it is %s', (_, make, reason) => {
    make(file.path);
    expect(failure(() => file.entry(URL)).message).toBe(`${file.path} cannot be read: ${reason}.`);
    expect(failure(save).message).toContain(reason);
  });

  it.each(['\ufeff{"services":{}}', '{\r\n"services":{}\r\n}\r\n'])(
    'may have been saved by an editor: %j',
    (content) => {
      writeFileSync(file.path, content, { mode: 0o600 });
      save();
      expect(file.entry(URL)).toEqual({ apiKey: 'k' });
    },
  );

  it('has no keys if it is missing, and keeps fields of other versions', () => {
    expect(file.entry(URL)).toEqual({});
    writeFileSync(file.path, JSON.stringify({ later: 1, services: { [URL]: { more: 2 } } }), { mode: 0o600 });
    file.save(URL, { apiKey: 'k' });
    expect(JSON.parse(readFileSync(file.path, 'utf8'))).toEqual({
      later: 1,
      services: { [URL]: { more: 2, apiKey: 'k' } },
    });
  });

  it.each([
    ['an absolute link', (target: string) => target, true],
    ['a relative link', () => '../dotfiles/credentials.json', true],
    ['a link to what does not exist yet', (target: string) => target, false],
  ])('remains %s after a change', (_, leadTo, exists) => {
    const target = join(home, 'dotfiles', 'credentials.json');
    mkdirSync(dirname(target));
    if (exists) writeFileSync(target, '{}', { mode: 0o600 });
    symlinkSync(leadTo(target), file.path);
    file.save(URL, { apiKey: 'k' });
    expect(lstatSync(file.path).isSymbolicLink()).toBe(true);
    expect(readFileSync(target, 'utf8')).toContain('"k"');
    expect(file.entry(URL)).toEqual({ apiKey: 'k' });
  });

  it.each([0o666, 0o644, 0o640, 0o604, 0o620, 0o660])('is reported once and made private if its mode is %o', (mode) => {
    writeFileSync(file.path, '{}');
    chmodSync(file.path, mode);
    file.entry(URL);
    file.save(URL, { apiKey: 'k' });
    expect(warnings).toEqual([expect.stringMatching(/^Other users may use .*chmod 600/)]);
    expect(statSync(file.path).mode & 0o777).toBe(0o600);
  });

  it('is not reported if it is private, and leaves no temporary files beside it', () => {
    file.save(URL, { apiKey: 'k' });
    file.entry(URL);
    expect(warnings).toEqual([]);
    rmSync(file.path);
    mkdirSync(file.path);
    expect(failure(save)).toBeInstanceOf(CliError);
    expect(existsSync(file.path)).toBe(true);
  });
});
