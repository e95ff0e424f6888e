import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from '../support/processes.js';

interface Outcome {
  readonly passed: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a tool to its end, as a process of its own. */
function run(script: string, args: readonly string[], cwd: string): Promise<Outcome> {
  const options = { cwd, maxBuffer: 64 * 1_048_576, env: { ...process.env, FORCE_COLOR: undefined, NO_COLOR: '1' } };
  return new Promise((resolve) => {
    execFile(process.execPath, [join(ROOT, script), ...args], options, (error, stdout, stderr) => {
      resolve({ passed: error === null, stdout, stderr });
    });
  });
}

/** @returns what a tool prints about the repository when it fails; nothing if it passes */
export async function outputOf(script: string, args: readonly string[]): Promise<string> {
  const { passed, stdout, stderr } = await run(script, args, ROOT);
  return passed ? '' : `${stdout}\n${stderr}`.trim() || 'It failed without any output.';
}

interface Rule {
  readonly name: string;
  readonly severity: string;
  readonly comment?: string;
}

export interface Cruise {
  readonly modules: readonly {
    readonly source: string;
    readonly dependencies: readonly { readonly module: string; readonly resolved: string }[];
  }[];
  readonly summary: {
    readonly violations: readonly { readonly rule: Rule; readonly from: string; readonly to: string }[];
    readonly ruleSetUsed: { readonly forbidden: readonly Rule[] };
  };
}

/** Checks the apps, libs and benchmarks of a folder against the rules of this repository. */
export async function cruise(folder: string): Promise<Cruise> {
  const folders = ['apps', 'libs', 'bench'];
  const args = ['--config', join(ROOT, '.dependency-cruiser.cjs'), '--output-type', 'json', ...folders];
  const { stdout, stderr } = await run('node_modules/dependency-cruiser/bin/dependency-cruise.mjs', args, folder);
  if (stdout === '') throw new Error(`dependency-cruiser did not run: ${stderr}`);
  return JSON.parse(stdout) as Cruise;
}
