import { randomBytes } from 'node:crypto';
import { link, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { UsageError } from '#platform/usage-error.js';

/** The folder for data that persists between starts. */
export class DataDir {
  private constructor(readonly path: string) {}

  static async open(path: string): Promise<DataDir> {
    const absolute = resolve(path);
    try {
      await mkdir(absolute, { recursive: true });
      const probe = join(absolute, `.probe-${process.pid}`);
      await (await open(probe, 'w')).close();
      await rm(probe);
    } catch (error) {
      throw new UsageError(
        `${absolute} is not writable (${String((error as NodeJS.ErrnoException).code)}): set DATA_DIR to a writable folder.`,
      );
    }
    return new DataDir(absolute);
  }

  file(name: string): string {
    return join(this.path, name);
  }

  /** A secret of 256 bits, generated on the first call and never replaced, because existing data depends on it. */
  async secret(name: string): Promise<string> {
    const found = await this.read(name);
    if (found === undefined) await this.writeNew(name, randomBytes(32).toString('hex'), link);
    const secret = found ?? (await this.read(name)) ?? '';
    if (!/^[0-9a-f]{64}$/.test(secret)) {
      throw new UsageError(
        `${this.file(name)} does not contain a secret of 64 hexadecimal digits: restore it or set DATA_DIR.`,
      );
    }
    return secret;
  }

  /** Undefined if the file does not exist. */
  async read(name: string): Promise<string | undefined> {
    try {
      return (await readFile(this.file(name), 'utf8')).trim();
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') return undefined;
      throw new UsageError(`${this.file(name)} can't be read (${String(code)}).`);
    }
  }

  async write(name: string, text: string): Promise<void> {
    await this.writeNew(name, text, rename);
  }

  /** Writes the file completely or not at all, readable by its owner only. `link` does not replace an existing file. */
  private async writeNew(name: string, text: string, put: typeof link): Promise<void> {
    const temporary = this.file(`.${name}-${process.pid}`);
    const file = await open(temporary, 'w', 0o600);
    try {
      await file.writeFile(`${text}\n`);
      await file.sync();
      await put(temporary, this.file(name));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    } finally {
      await file.close();
      await rm(temporary, { force: true });
    }
  }
}
