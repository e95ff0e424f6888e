import 'reflect-metadata';
import { UsageError } from '#platform/process/usage-error.js';
import { readCall, USAGE, type Options, type ScenarioName } from './options.js';
import { BenchEnvironment } from './parts/environment.js';
import { machineOf } from './report/machine.js';
import { markdown, write, type Findings } from './report/report.js';
import { accept } from './scenarios/accept.js';
import { consume } from './scenarios/consume.js';
import { delivered } from './scenarios/delivered.js';
import { deletion } from './scenarios/deletion.js';
import { growth } from './scenarios/growth.js';
import { httpConsumers } from './scenarios/http-consumers.js';
import { order } from './scenarios/order.js';
import { overload } from './scenarios/overload.js';
import { rivals } from './scenarios/rivals.js';
import { scaling } from './scenarios/scaling.js';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
const RUNS: Readonly<Record<ScenarioName, (bench: BenchEnvironment, options: Options) => Promise<Findings>>> = {
  accept,
  consume,
  'http-consumers': httpConsumers,
  delivered,
  order,
  overload,
  growth,
  scaling,
  deletion,
  rivals,
};

async function run(): Promise<number> {
  const { scenarios, options, out, help } = readCall(process.argv.slice(2));
  if (help) {
    console.log(USAGE);
    return 0;
  }
  if (process.platform !== 'linux')
    throw new UsageError('The benchmark requires Linux: it reads the resource usage of processes from /proc.');
  // Each scenario has an environment of its own; in a smoke run they share one.
  const groups = options.smoke ? [scenarios] : scenarios.map((scenario) => [scenario]);
  let failed = false;
  for (const group of groups) {
    const bench = await BenchEnvironment.make(options.smoke);
    const leave = () => {
      void bench.remove().finally(() => process.exit(1));
    };
    for (const signal of SIGNALS) process.once(signal, leave);
    try {
      for (const scenario of group) {
        const at = new Date().toISOString();
        const findings = await RUNS[scenario](bench, options);
        const report = { scenario, at, machine: machineOf(bench), options: { ...options }, ...findings };
        write(report, out);
        console.log(`\n${markdown(report)}`);
        failed ||= findings.checks.some(({ holds }) => !holds);
      }
    } finally {
      for (const signal of SIGNALS) process.off(signal, leave);
      await bench.remove();
    }
  }
  return failed ? 1 : 0;
}

try {
  process.exitCode = await run();
} catch (error) {
  console.error(error instanceof UsageError ? error.message : error);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
