import { EmbeddedPostgres } from './embedded-postgres/index.js';
import type { DataDir } from './data-dir.js';
import { Kept } from './kept.js';

/** The PostgreSQL brought along, with a URL that stays the same when it has to be started again. */
export class DevDatabase {
  private server: EmbeddedPostgres | undefined;
  readonly kept: Kept;

  constructor(dataDir: DataDir) {
    this.kept = new Kept('PostgreSQL', async () => {
      const server = await EmbeddedPostgres.start({
        dataDir: dataDir.file('postgres'),
        database: 'sluice',
        port: this.server?.port,
      });
      this.server = server;
      return {
        ended: server.exited.then(() => 'see server.log in its data'),
        ready: Promise.resolve(),
        stop: () => server.stop(),
      };
    });
  }

  get url(): string {
    if (!this.server) throw new Error('The database has not been started.');
    return this.server.url;
  }
}
