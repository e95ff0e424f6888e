import 'reflect-metadata';
import { Mistake, readCall, USAGE, type Options, type ScenarioName } from './options.js';
import { Bed } from './parts/bed.js';
import { machineOf } from './report/machine.js';
import { markdown, write, type Findings } from './report/report.js';
import { accept } from './scenarios/accept.js';
import { consume } from './scenarios/consume.js';
import { growth } from './scenarios/growth.js';
import { overload } from './scenarios/overload.js';
import { sustained } from './scenarios/sustained.js';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
const RUNS: Readonly<Record<ScenarioName, (bed: Bed, options: Options) => Promise<Findings>>> = {
  accept,
  consume,
  sustained,
  overload,
  growth,
};

async function bench(): Promise<number> {
  const { scenarios, options, out, help } = readCall(process.argv.slice(2));
  if (help) {
    console.log(USAGE);
    return 0;
  }
  if (process.platform !== 'linux')
    throw new Mistake('The benchmark reads from /proc what processes use: it needs Linux.');
  // Each on a bed of its own, unless no figure is worth anything.
  const groups = options.smoke ? [scenarios] : scenarios.map((scenario) => [scenario]);
  let failed = false;
  for (const group of groups) {
    const bed = await Bed.make(options.smoke);
    const leave = () => {
      void bed.remove().finally(() => process.exit(1));
    };
    for (const signal of SIGNALS) process.once(signal, leave);
    try {
      for (const scenario of group) {
        const at = new Date().toISOString();
        const findings = await RUNS[scenario](bed, options);
        const report = { scenario, at, machine: machineOf(bed), options: { ...options }, ...findings };
        write(report, out);
        console.log(`\n${markdown(report)}`);
        failed ||= findings.checks.some(({ holds }) => !holds);
      }
    } finally {
      for (const signal of SIGNALS) process.off(signal, leave);
      await bed.remove();
    }
  }
  return failed ? 1 : 0;
}

try {
  process.exitCode = await bench();
} catch (error) {
  console.error(error instanceof Mistake ? error.message : error);
  process.exitCode = error instanceof Mistake ? 2 : 1;
}
