import { InvalidArgumentError, type Command } from 'commander';
import { NotFoundError, type AuditEntry, type Plan, type PlanInput } from '#client/index.js';
import { id, integer, limitOption, planName, withExamples } from '../input/arguments.js';
import type { Context } from '../support/context.js';
import { firstOf } from '../support/lists.js';
import { time, type Output } from '../support/output.js';
import type { Column } from '../support/table.js';
import { confirm } from '../support/prompts.js';
import { addOperatorsAccounts } from './operators-accounts.js';
import { addBans } from './operators-bans.js';
import { addAdminUsage } from './usage.js';

const PLAN_COLUMNS: readonly Column<Plan>[] = [
  ['NAME', ({ name }) => name],
  ['LIMITS', limits],
  ['STORAGE', ({ maxStoredBytes }) => orDefault(maxStoredBytes)],
  ['ENDPOINTS', ({ maxEndpoints }) => orDefault(maxEndpoints)],
  ['ACCOUNTS', ({ accounts }) => String(accounts)],
];

const AUDIT_COLUMNS: readonly Column<AuditEntry>[] = [
  ['AT', ({ at }) => time(at)],
  ['OPERATOR', ({ operator }) => operator],
  ['ACTION', ({ action }) => action],
  ['SUBJECT', ({ subject }) => subject],
  ['ACCOUNT', ({ accountId }) => accountId ?? '-'],
  ['BEFORE', ({ before }) => JSON.stringify(before)],
  ['AFTER', ({ after }) => JSON.stringify(after)],
];

type NumberOrDefault = number | 'default';

/** What `plans put` changes. */
interface Terms {
  readonly perMinute?: number;
  readonly perDay?: number;
  readonly individual?: true;
  readonly maxStoredBytes?: NumberOrDefault;
  readonly maxEndpoints?: NumberOrDefault;
}

/** The commands about the whole service, which need the key of an operator. */
export function addAdmin(program: Command, context: Context): void {
  const admin = program
    .command('admin')
    .description("Manage accounts, plans and bans, and see what operators changed (with an operator's key)");
  addOperatorsAccounts(admin, context);
  addPlans(admin, context);
  addBans(admin, context);
  addAdminUsage(admin, context);
  admin
    .command('audit')
    .description('List what operators changed, newest first')
    .addOption(limitOption(50))
    .option('--account <id>', 'only what concerns this account', id('acct'))
    .action(({ limit, account }: { limit: number; account?: string }) => {
      const entries = context.operator().admin.audit.list({ accountId: account });
      return context.output.list(firstOf(entries, limit), AUDIT_COLUMNS, 'Nothing was changed.');
    });
}

function addPlans(admin: Command, context: Context): void {
  const plans = admin.command('plans').description('Manage the plans that accounts can have');
  const api = () => context.operator().admin.plans;

  plans
    .command('list')
    .alias('ls')
    .description('List plans by name')
    .addOption(limitOption(100))
    .action(({ limit }: { limit: number }) =>
      context.output.list(firstOf(api().list(), limit), PLAN_COLUMNS, 'There are no plans.'),
    );

  plans
    .command('get')
    .description('Show a plan')
    .argument('<name>', '', planName)
    .action(async (name: string) => {
      show(context.output, await api().get(name));
    });

  const put = plans
    .command('put')
    .description('Create a plan, or change what the options name')
    .argument('<name>', '1 to 40 of a-z, 0-9 and -', planName)
    .option('--per-minute <n>', 'requests a minute', integer(1, 1e9))
    .option('--per-day <n>', 'requests a day', integer(1, 1e9))
    .option('--individual', 'limits are agreed with each account')
    .option(
      '--max-stored-bytes <n>',
      'bytes that an account may store, or "default"',
      numberOrDefault(1, Number.MAX_SAFE_INTEGER),
    )
    .option('--max-endpoints <n>', 'endpoints that an account may have, or "default"', numberOrDefault(0, 100))
    .action(async (name: string, terms: Terms) => {
      const { perMinute, perDay, individual } = terms;
      const hasLimits = perMinute !== undefined || perDay !== undefined;
      if (hasLimits && individual) put.error('error: --individual excludes --per-minute and --per-day');
      const plan = await existing(api().get(name));
      const limits = individual ? null : changedLimits(plan, terms);
      if (limits === undefined) return put.error('error: a plan needs --per-minute and --per-day, or --individual');
      show(context.output, await api().put(name, inputOf(plan, limits, terms), { version: plan?.version ?? null }));
    });
  withExamples(
    put,
    'sluice admin plans put gold --per-minute 600 --per-day 50000 --max-endpoints 20',
    'sluice admin plans put custom --individual',
  );

  plans
    .command('delete')
    .description('Delete a plan that no account has')
    .argument('<name>', '', planName)
    .option('-y, --yes', 'do not ask')
    .action(async (name: string, { yes }: { yes?: true }) => {
      await confirm(`Delete the plan ${name}?`, yes);
      await api().delete(name);
      context.output.result({ name, deleted: true }, () => `The plan ${name} is deleted.`);
    });
}

async function existing(plan: Promise<Plan>): Promise<Plan | null> {
  try {
    return await plan;
  } catch (error) {
    if (error instanceof NotFoundError && error.code === 'plan_not_found') return null;
    throw error;
  }
}

/** Undefined when one of the limits is missing. */
function changedLimits(plan: Plan | null, terms: Terms): PlanInput['limits'] | undefined {
  const { perMinute = plan?.limits?.perMinute, perDay = plan?.limits?.perDay } = terms;
  if (perMinute !== undefined && perDay !== undefined) return { perMinute, perDay };
  return plan !== null && perMinute === undefined && perDay === undefined ? null : undefined;
}

function inputOf(plan: Plan | null, limits: PlanInput['limits'], terms: Terms): PlanInput {
  const { maxStoredBytes = plan?.maxStoredBytes, maxEndpoints = plan?.maxEndpoints } = terms;
  const orNull = (value: NumberOrDefault | null | undefined) => (value === 'default' ? null : value);
  return { limits, maxStoredBytes: orNull(maxStoredBytes), maxEndpoints: orNull(maxEndpoints) };
}

function numberOrDefault(minimum: number, maximum: number): (text: string) => NumberOrDefault {
  return (text) => {
    if (text === 'default') return text;
    try {
      return integer(minimum, maximum)(text);
    } catch {
      throw new InvalidArgumentError(`It must be a whole number from ${minimum} to ${maximum}, or "default".`);
    }
  };
}

function show(output: Output, plan: Plan): void {
  output.result(plan, () =>
    output.fields({
      Name: plan.name,
      Limits: limits(plan),
      Storage: orDefault(plan.maxStoredBytes),
      Endpoints: orDefault(plan.maxEndpoints),
      Accounts: plan.accounts,
      Version: plan.version,
    }),
  );
}

function limits({ limits: own }: Plan): string {
  return own === null ? 'agreed with each account' : `${own.perMinute} a minute, ${own.perDay} a day`;
}

function orDefault(value: number | null): string {
  return value === null ? 'default' : String(value);
}
