import { AsyncLocalStorage } from 'node:async_hooks';
import type { DataSource, EntityManager } from 'typeorm';
import { asUnavailable } from './errors.js';

type Work<T> = (manager: EntityManager) => Promise<T>;

/** The transaction that everything joins which runs within `Repositories.together`. */
const together = new AsyncLocalStorage<EntityManager>();
/** How many use it. */
let transactions = 0;

/**
 * TypeORM's repositories, for statements that are not part of every request.
 * Every method throws DomainError `unavailable` when the database cannot be reached or does not respond in time.
 */
export class Repositories {
  constructor(
    private readonly dataSource: DataSource,
    private readonly database: { limited<T>(id: string, work: () => Promise<T>): Promise<T> },
  ) {}

  async run<T>(work: Work<T>): Promise<T> {
    try {
      const outer = together.getStore();
      return await work(
        outer === undefined ? this.dataSource.manager : this.dataSource.createEntityManager(outer.queryRunner),
      );
    } catch (error) {
      throw asUnavailable(error);
    }
  }

  transaction<T>(work: Work<T>): Promise<T> {
    return this.run((manager) => (isJoining() ? work(manager) : manager.transaction(work)));
  }

  /** What a caller reads, within `Database.limited`. */
  read<T>(id: string, work: Work<T>): Promise<T> {
    return isJoining() ? this.run(work) : this.database.limited(id, () => this.run(work));
  }

  /** A transaction within `Database.limited`. */
  change<T>(id: string, work: Work<T>): Promise<T> {
    return isJoining() ? this.run(work) : this.database.limited(id, () => this.transaction(work));
  }

  /**
   * A transaction within `Database.limited`. All repositories that `work` uses take part in it, including the
   * repositories of other contexts.
   */
  together<T>(id: string, work: Work<T>): Promise<T> {
    return this.change(id, async (manager) => {
      transactions++;
      try {
        return await together.run(manager, () => work(manager));
      } finally {
        // Before Node.js 24, it costs each promise of the process some time, until it is disabled.
        if (--transactions === 0) together.disable();
      }
    });
  }
}

function isJoining(): boolean {
  return together.getStore() !== undefined;
}
