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
    private readonly database: { inTurn<T>(id: string, work: () => Promise<T>): Promise<T> },
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

  /** What a caller reads, within `Database.inTurn`. */
  read<T>(id: string, work: Work<T>): Promise<T> {
    return this.database.inTurn(id, () => this.run(work));
  }

  /** A transaction within `Database.inTurn`. */
  change<T>(id: string, work: Work<T>): Promise<T> {
    return this.database.inTurn(id, () => this.transaction(work));
  }
}
