import { randomBytes } from 'node:crypto';
import { link, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createFolder } from '#platform/process/create-folder.js';
import { UsageError } from '#platform/process/usage-error.js';

/** The folder for data that persists between starts. */
export class DataDir {
  private constructor(readonly path: string) {}

  static async open(path: string): Promise<DataDir> {
    const absolute = resolve(path);
    try {
      createFolder(absolute);
      const probe = join(absolute, `.probe-${process.pid}`);
      await (await open(probe, 'w')).close();
      await rm(probe);
    } catch (error) {
      if (['EEXIST', 'ENOTDIR'].includes(String((error as NodeJS.ErrnoException).code))) {
        throw new UsageError(`${absolute} is not a folder: set DATA_DIR to a folder.`);
      }
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
    if (found === undefined) await this.add(name, randomBytes(32).toString('hex'));
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
      const text = await readFile(this.file(name), 'utf8');
      if (process.platform !== 'win32' && ((await stat(this.file(name))).mode & 0o077) !== 0) {
        console.warn(
          `Other users may use ${this.file(name)}, which is secret. To prevent that: chmod 600 ${this.file(name)}`,
        );
      }
      return text.trim();
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') return undefined;
      throw new UsageError(`${this.file(name)} can't be read (${String(code)}).`);
    }
  }

  /** Writes a file. An existing one keeps its content under another name. */
  async replace(name: string, text: string): Promise<void> {
    const kept = this.file(`${name}.until-${new Date().toISOString().replace(/[^0-9T]/g, '')}`);
    await rename(this.file(name), kept).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    });
    await this.add(name, text);
  }

  /** Writes a file completely or not at all, readable by its owner only, unless there is one already. */
  private async add(name: string, text: string): Promise<void> {
    const temporary = this.file(`.${name}-${process.pid}`);
    const file = await open(temporary, 'w', 0o600);
    try {
      await file.writeFile(`${text}\n`);
      await file.sync();
      await link(temporary, this.file(name));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    } finally {
      await file.close();
      await rm(temporary, { force: true });
    }
  }
}
