import type { EntityManager } from 'typeorm';
import type { Page } from '#kernel/page.js';
import type { Database } from '#platform/database/database.js';
import { FOREIGN_KEY_VIOLATION, sqlState } from '#platform/database/errors.js';
import type { Repositories } from '#platform/database/repositories.js';
import type { AccountsSettings } from '../../settings.js';
import { Plans, type Expected, type PutResult, type UsedPlan } from '../../application/plans.js';
import {
  hasTerms,
  PLAN_NAME,
  planChanged,
  planInUse,
  planNotFound,
  UNAGREED_LIMITS,
  type Plan,
  type PlanTerms,
} from '../../domain/plan.js';

const LIMITS = `json_build_object('perMinute', per_minute, 'perDay', per_day)`;
const COLUMNS = `
  name, CASE WHEN NOT individual THEN ${LIMITS} END AS limits, ${LIMITS} AS "initialLimits",
  max_stored_bytes::float8 AS "maxStoredBytes", max_endpoints AS "maxEndpoints", version`;
const USED = `${COLUMNS}, (SELECT count(*)::int FROM sluice.accounts WHERE plan = plans.name) AS accounts`;

// Keeps the plan from being deleted, and not from being changed.
const FIND = `SELECT ${COLUMNS} FROM sluice.plans WHERE name = $1 FOR KEY SHARE`;
const GET = `SELECT ${USED} FROM sluice.plans WHERE name = $1`;
const LOCK = `SELECT ${COLUMNS} FROM sluice.plans WHERE name = $1 FOR NO KEY UPDATE`;
const LIST = `
  SELECT ${USED} FROM sluice.plans WHERE $1::text IS NULL OR name COLLATE "C" > $1 ORDER BY name COLLATE "C" LIMIT $2`;
const ADD = `
  INSERT INTO sluice.plans (name, individual, per_minute, per_day, max_stored_bytes, max_endpoints)
  VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING RETURNING ${COLUMNS}`;
// Without limits, it keeps those that it had for accounts with which none are agreed.
const CHANGE = `
  UPDATE sluice.plans
  SET individual = $2, per_minute = $3, per_day = $4, max_stored_bytes = $5, max_endpoints = $6, version = DEFAULT
  WHERE name = $1`;
const REMOVE = 'DELETE FROM sluice.plans WHERE name = $1';

/** What operators read and change at the same time is limited together. */
const OPERATORS = 'operator plans';

export class PostgresPlans extends Plans {
  private constructor(
    private readonly repositories: Repositories,
    private readonly signupPlan: string,
  ) {
    super();
  }

  static async open(database: Database, { signup }: AccountsSettings): Promise<PostgresPlans> {
    return new PostgresPlans(await database.repositories([]), signup.plan);
  }

  find(name: string): Promise<Plan | null> {
    return this.repositories.run((manager) => one<Plan>(manager, FIND, name));
  }

  get(name: string): Promise<UsedPlan | null> {
    return this.repositories.read(OPERATORS, (manager) => one<UsedPlan>(manager, GET, name));
  }

  list({ limit, before }: Page): Promise<UsedPlan[]> {
    return this.repositories.read(OPERATORS, (manager) => manager.query<UsedPlan[]>(LIST, [before, limit]));
  }

  put(name: string, terms: PlanTerms, expected: Expected | null): Promise<PutResult> {
    return this.repositories.change(OPERATORS, async (manager) => {
      const before = await lockOrAdd(manager, name, terms, expected);
      if (before !== null && !hasTerms(before, terms)) {
        assertExpected(before, expected);
        await manager.query(CHANGE, valuesOf(name, terms, before.initialLimits));
      }
      const after = await one<UsedPlan>(manager, GET, name);
      if (after === null) throw planNotFound();
      return { before, after };
    });
  }

  remove(name: string, expected: Expected | null): Promise<Plan> {
    if (name === this.signupPlan) throw planInUse('new accounts get it (SIGNUP_PLAN).');
    return this.repositories.change(OPERATORS, async (manager) => {
      const plan = await one<Plan>(manager, LOCK, name);
      if (plan === null) throw planNotFound();
      assertExpected(plan, expected);
      try {
        await manager.query(REMOVE, [name]);
      } catch (error) {
        if (sqlState(error) !== FOREIGN_KEY_VIOLATION) throw error;
        throw planInUse('accounts have it. Give them another plan first.');
      }
      return plan;
    });
  }
}

/** @returns the plan, which no other transaction changes until this one ends; null if it was added */
async function lockOrAdd(
  manager: EntityManager,
  name: string,
  terms: PlanTerms,
  expected: Expected | null,
): Promise<Plan | null> {
  for (;;) {
    const plan = await one<Plan>(manager, LOCK, name);
    if (plan !== null) return plan;
    if (expected !== null && expected !== 'none') throw planChanged();
    // Nothing is added if another transaction has just added it.
    const added = await manager.query<unknown[]>(ADD, valuesOf(name, terms, UNAGREED_LIMITS));
    if (added.length > 0) return null;
  }
}

async function one<Row>(manager: EntityManager, text: string, name: string): Promise<Row | null> {
  // PostgreSQL refuses texts with U+0000.
  if (!PLAN_NAME.test(name)) return null;
  const [row] = await manager.query<Row[]>(text, [name]);
  return row ?? null;
}

function valuesOf(name: string, { limits, maxStoredBytes, maxEndpoints }: PlanTerms, initial: Plan['initialLimits']) {
  const { perMinute, perDay } = limits ?? initial;
  return [name, limits === null, perMinute, perDay, maxStoredBytes, maxEndpoints];
}

function assertExpected({ version }: Plan, expected: Expected | null): void {
  if (expected === null || expected === 'any') return;
  if (expected === 'none' || !expected.includes(version)) throw planChanged();
}
