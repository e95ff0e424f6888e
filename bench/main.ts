import 'reflect-metadata';
import { Mistake, readCall, USAGE, type Options, type ScenarioName } from './options.js';
import { Bed } from './parts/bed.js';
import { machineOf } from './report/machine.js';
import { markdown, write, type Findings } from './report/report.js';
import { accept } from './scenarios/accept.js';
import { consume } from './scenarios/consume.js';

const RUNS: Readonly<Record<ScenarioName, (bed: Bed, options: Options) => Promise<Findings>>> = { accept, consume };

async function bench(): Promise<number> {
  const { scenarios, options, out, help } = readCall(process.argv.slice(2));
  if (help) {
    console.log(USAGE);
    return 0;
  }
  let failed = false;
  for (const scenario of scenarios) {
    const bed = await Bed.make();
    try {
      const at = new Date().toISOString();
      const findings = await RUNS[scenario](bed, options);
      const report = { scenario, at, machine: machineOf(bed), options: { ...options }, ...findings };
      write(report, out);
      console.log(`\n${markdown(report)}`);
      failed ||= findings.checks.some(({ holds }) => !holds);
    } finally {
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
