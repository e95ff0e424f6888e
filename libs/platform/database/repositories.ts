import type { DataSource, EntityManager } from 'typeorm';
import { asUnavailable } from './errors.js';

type Work<T> = (manager: EntityManager) => Promise<T>;

/**
 * TypeORM's repositories, for statements that are not part of every request.
 * Every method throws DomainError `unavailable` when the database cannot be reached or does not respond in time.
 */
export class Repositories {
  constructor(
    private readonly dataSource: DataSource,
    private readonly database: { change<T>(id: string, work: () => Promise<T>): Promise<T> },
  ) {}

  async run<T>(work: Work<T>): Promise<T> {
    try {
      return await work(this.dataSource.manager);
    } catch (error) {
      throw asUnavailable(error);
    }
  }

  transaction<T>(work: Work<T>): Promise<T> {
    return this.run((manager) => manager.transaction(work));
  }

  /** A transaction within `Database.change`. */
  change<T>(id: string, work: Work<T>): Promise<T> {
    return this.database.change(id, () => this.transaction(work));
  }
}
