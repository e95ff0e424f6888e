import { cpus, release, totalmem } from 'node:os';
import type { BenchEnvironment } from '../parts/environment.js';

/** The machine of a run. Load generators and databases share it. */
export interface Machine {
  readonly cpu: string;
  readonly memory: string;
  readonly kernel: string;
  readonly node: string;
  readonly postgresql: string;
  readonly redis: string;
}

export function machineOf(bench: BenchEnvironment): Machine {
  const all = cpus();
  return {
    cpu: `${all.length} cores of ${all[0]?.model ?? 'an unknown CPU'}`,
    memory: `${Math.round(totalmem() / 1_073_741_824)} GiB`,
    kernel: `${process.platform} ${release()}`,
    node: `Node.js ${process.versions.node}`,
    postgresql: `PostgreSQL ${bench.postgresVersion}`,
    redis: bench.redis === null ? 'no Redis' : `Redis ${bench.redis.version}`,
  };
}
