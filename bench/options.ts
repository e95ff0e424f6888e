import { parseArgs } from 'node:util';
import { UsageError } from '#platform/process/usage-error.js';

export const SCENARIOS = [
  'accept',
  'consume',
  'http-consumers',
  'delivered',
  'order',
  'overload',
  'growth',
  'scaling',
  'deletion',
  'rivals',
] as const;
export type ScenarioName = (typeof SCENARIOS)[number];

export const USAGE = `Usage: npm run bench -- [scenario …] [options]

Scenarios: ${SCENARIOS.join(', ')}; all of them if none is named.

  --rounds <n>      how often each load is measured, 1 to 100 (5)
  --seconds <n>     duration of each measurement, 1 to 600 (10)
  --generators <n>  load generator processes, 1 to 16 (1)
  --messages <n,…>  messages in the consume and deletion scenarios, each 100 to 1000000 (20000)
  --rows <n>        stored messages in the growth scenario, 1000 to 1000000000 (10000000)
  --backlog <n>     queued messages in the growth scenario, and of an account in http-consumers, 100 to 10000000 (500000)
  --long-polls <n>  requests that wait in the http-consumers scenario, 10 to 100000 (10000)
  --rival <file>    another system in the rivals scenario, described by JSON (see docs/performance.md)
  --receiver-port <n>  where that system posts to, 1 to 65535 (9009)
  --smoke           one short round of everything: shows that it works; the figures mean nothing
  --out <folder>    where the results are written (bench/results; with --smoke dist/bench/results)

Exit codes: 0 all checks agree; 1 a check or a measurement failed; 2 invalid arguments.`;

export interface Options {
  readonly rounds: number;
  readonly seconds: number;
  readonly warmUpSeconds: number;
  readonly generators: number;
  readonly messages: readonly number[];
  readonly rows: number;
  readonly accounts: number;
  readonly backlog: number;
  readonly longPolls: number;
  readonly rival: string | null;
  readonly receiverPort: number;
  readonly smoke: boolean;
}

type Numeric = 'rounds' | 'seconds' | 'generators' | 'messages' | 'rows' | 'backlog' | 'long-polls' | 'receiver-port';

export interface Call {
  readonly scenarios: readonly ScenarioName[];
  readonly options: Options;
  readonly out: string;
  readonly help: boolean;
}

/** @throws UsageError */
export function readCall(args: string[]): Call {
  const { values, positionals } = parsed(args);
  const { smoke } = values;
  const read = (name: Numeric, text: string, min: number, max: number) => {
    if (!/^\d{1,9}$/.test(text) || Number(text) < min || Number(text) > max) {
      throw new UsageError(`--${name} must be an integer from ${min} to ${max}, not "${text}".`);
    }
    return Number(text);
  };
  const integer = (name: Numeric, or: number, min: number, max: number) =>
    read(name, values[name] ?? String(or), min, max);
  const unknown = positionals.find((name) => !SCENARIOS.some((known) => known === name));
  if (unknown !== undefined) throw new UsageError(`Unknown scenario "${unknown}". Scenarios: ${SCENARIOS.join(', ')}.`);
  const rows = integer('rows', smoke ? 2_000 : 10_000_000, 1_000, 1_000_000_000);
  return {
    scenarios: SCENARIOS.filter((name) => positionals.length === 0 || positionals.includes(name)),
    options: {
      rounds: integer('rounds', smoke ? 1 : 5, 1, 100),
      seconds: smoke ? 0.3 : integer('seconds', 10, 1, 600),
      warmUpSeconds: smoke ? 0.1 : 10,
      generators: integer('generators', 1, 1, 16),
      messages: (values.messages ?? (smoke ? '200' : '20000'))
        .split(',')
        .map((text) => read('messages', text, 100, 1_000_000)),
      rows,
      accounts: Math.min(100_000, Math.floor(rows / 20)),
      backlog: integer('backlog', smoke ? 300 : 500_000, 100, 10_000_000),
      rival: values.rival ?? null,
      receiverPort: integer('receiver-port', 9_009, 1, 65_535),
      longPolls: integer('long-polls', smoke ? 50 : 10_000, 10, 100_000),
      smoke,
    },
    out: values.out ?? (smoke ? 'dist/bench/results' : 'bench/results'),
    help: values.help,
  };
}

function parsed(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        rounds: { type: 'string' },
        seconds: { type: 'string' },
        generators: { type: 'string' },
        messages: { type: 'string' },
        rows: { type: 'string' },
        backlog: { type: 'string' },
        'long-polls': { type: 'string' },
        rival: { type: 'string' },
        'receiver-port': { type: 'string' },
        smoke: { type: 'boolean', default: false },
        out: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}
