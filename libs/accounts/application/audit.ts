import type { Page } from '#kernel/page.js';

/** What an operator changed. It has ids, limits and the like: no secrets, and no texts of customers. */
export interface AuditedChange {
  /** What happened to what, such as `plan.changed` or `api_key.revoked`. */
  readonly action: string;
  /** The name of a plan, or the id of an account or key. */
  readonly subject: string;
  /** The account that it concerns; null if none in particular. */
  readonly accountId: string | null;
  /** The fields that changed, or all of what was deleted; null for something new. */
  readonly before: object | null;
  /** The same fields as they are now; null for something deleted. */
  readonly after: object | null;
}

export interface AuditEntry extends AuditedChange {
  readonly id: string;
  readonly at: Date;
  /** The name of the operator's key. */
  readonly operator: string;
}

export interface AuditPage extends Page {
  /** Only changes that concern this account. */
  readonly accountId: string | null;
}

/** The result of a change, and its entry; null if nothing changed. */
export interface Audited<T> {
  readonly result: T;
  readonly change: AuditedChange | null;
}

/** The list of changes by operators. */
export abstract class Audit {
  /**
   * Runs a change by an operator and stores its entry in the same transaction, both or neither. All that `work` changes
   * through `Repositories` takes part in it.
   */
  abstract record<T>(operator: string, work: () => Promise<Audited<T>>): Promise<T>;

  /** Newest first. */
  abstract list(page: AuditPage): Promise<AuditEntry[]>;
}

/** The fields of two states that differ; null if none does. */
export function difference<T extends object>(before: T, after: T): Pick<AuditedChange, 'before' | 'after'> | null {
  const fields = Object.keys(after) as (keyof T)[];
  const changed = fields.filter((field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]));
  const of = (state: T) => Object.fromEntries(changed.map((field) => [field, state[field]]));
  return changed.length === 0 ? null : { before: of(before), after: of(after) };
}
