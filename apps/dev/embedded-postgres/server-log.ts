import { chown, open, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { User } from './run-as.js';

const ROTATE_AT_BYTES = 1_000_000;

/** The log file of a server, and what the last start added to it. */
export class ServerLog {
  private constructor(
    readonly path: string,
    private readonly start: number,
  ) {}

  static async in(dataDir: string): Promise<ServerLog> {
    const path = join(dataDir, 'server.log');
    const size = await stat(path).then(
      (found) => found.size,
      () => 0,
    );
    if (size < ROTATE_AT_BYTES) return new ServerLog(path, size);
    await rename(path, `${path}.1`);
    return new ServerLog(path, 0);
  }

  /** Calls `use` with a descriptor, which is closed afterwards. */
  async opened<T>(user: User | undefined, use: (descriptor: number) => T): Promise<T> {
    const file = await open(this.path, 'a', 0o600);
    try {
      if (user) await chown(this.path, user.uid, user.gid);
      return use(file.fd);
    } finally {
      await file.close();
    }
  }

  async text(): Promise<string> {
    const file = await open(this.path);
    try {
      return (await file.read({ buffer: Buffer.alloc(64_000), position: this.start })).buffer
        .toString()
        .replaceAll('\0', '');
    } finally {
      await file.close();
    }
  }
}
