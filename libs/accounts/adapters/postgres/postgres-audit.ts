import type { Clock } from '#kernel/clock.js';
import type { Ids } from '#kernel/ids.js';
import type { Database } from '#platform/database/database.js';
import type { Repositories } from '#platform/database/repositories.js';
import { Audit, type Audited, type AuditEntry, type AuditPage } from '../../application/audit.js';

const ADD = `
  INSERT INTO sluice.audit (id, operator, action, subject, account_id, before, after)
  VALUES ($1, $2, $3, $4, $5, $6, $7)`;

const LIST = `
  SELECT id, at, operator, action, subject, account_id AS "accountId", before, after FROM sluice.audit
  WHERE ($1::text IS NULL OR id < $1) AND ($2::text IS NULL OR account_id = $2) ORDER BY id DESC LIMIT $3`;

export class PostgresAudit extends Audit {
  private constructor(
    private readonly repositories: Repositories,
    private readonly ids: Ids,
    private readonly clock: Clock,
  ) {
    super();
  }

  static async open(database: Database, ids: Ids, clock: Clock): Promise<PostgresAudit> {
    return new PostgresAudit(await database.repositories([]), ids, clock);
  }

  record<T>(operator: string, work: () => Promise<Audited<T>>): Promise<T> {
    return this.repositories.together(`operator ${operator}`, async (manager) => {
      const { result, change } = await work();
      if (change !== null) {
        const { action, subject, accountId, before, after } = change;
        const id = this.ids.next('audit', this.clock.now());
        await manager.query(ADD, [id, operator, action, subject, accountId, before, after]);
      }
      return result;
    });
  }

  list({ limit, before, accountId }: AuditPage): Promise<AuditEntry[]> {
    return this.repositories.read('operator audit', (manager) =>
      manager.query<AuditEntry[]>(LIST, [before, accountId, limit]),
    );
  }
}
