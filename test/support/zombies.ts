import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { until } from './processes.js';

/**
 * A process that was killed and whose parent does not wait for it.
 * @param parents gets its parent, which must be killed
 * @returns its id
 */
export async function aZombie(parents: ChildProcess[]): Promise<number> {
  // The shell replaces itself with a program that knows nothing of its child.
  const parent = spawn('sh', ['-c', 'sleep 60 & echo $!; exec sleep 600'], { stdio: ['ignore', 'pipe', 'inherit'] });
  parents.push(parent);
  const [printed] = (await once(parent.stdout, 'data')) as [Buffer];
  const pid = Number(printed.toString());
  await until(() => readFileSync(`/proc/${parent.pid}/cmdline`, 'utf8').startsWith('sleep'));
  process.kill(pid, 'SIGKILL');
  await until(() => readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z'));
  return pid;
}
