import { execFileSync } from 'node:child_process';

/**
 * The languages in which there is an example of a worker: its file, its interpreter, and why that cannot run it.
 * @param imports the modules that the worker in Python imports
 * @param requirement the package that has them
 */
export function workerLanguages(imports: string, requirement: string) {
  const python = process.env.PYTHON ?? 'python3';
  let missing: string | null = null;
  try {
    execFileSync(python, ['-c', `import ${imports}`], { stdio: 'pipe' });
  } catch {
    missing = `${python} lacks ${requirement}: pip install '${requirement}==3.4.4'`;
  }
  return [
    ['JavaScript', 'worker.mjs', process.execPath, null],
    ['Python', 'worker.py', python, missing],
  ] as const;
}
