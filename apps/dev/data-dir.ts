import { randomBytes } from 'node:crypto';
import { link, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { StartError } from './start-error.js';

/** The folder that holds all that a start makes and the next one finds again. */
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
      throw new StartError(
        `${absolute} can't be written (${String((error as NodeJS.ErrnoException).code)}): set DATA_DIR to a folder that can.`,
      );
    }
    return new DataDir(absolute);
  }

  file(name: string): string {
    return join(this.path, name);
  }

  /** A secret of 256 bits, made on the first call. It is never replaced: what was made with it would be lost. */
  async secret(name: string): Promise<string> {
    const found = await this.read(name);
    if (found === undefined) await this.writeNew(name, randomBytes(32).toString('hex'), link);
    const secret = found ?? (await this.read(name)) ?? '';
    if (!/^[0-9a-f]{64}$/.test(secret)) {
      throw new StartError(`${this.file(name)} holds no secret of 64 hexadecimal digits: restore it or set DATA_DIR.`);
    }
    return secret;
  }

  /** Undefined if there is no such file. */
  async read(name: string): Promise<string | undefined> {
    try {
      return (await readFile(this.file(name), 'utf8')).trim();
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') return undefined;
      throw new StartError(`${this.file(name)} can't be read (${String(code)}).`);
    }
  }

  async write(name: string, text: string): Promise<void> {
    await this.writeNew(name, text, rename);
  }

  /** Complete or not at all, and readable by nobody else. `link` leaves what another start has made meanwhile. */
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
