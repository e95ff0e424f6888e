import { cpus, release, totalmem } from 'node:os';
import type { Bed } from '../parts/bed.js';

/** What the figures are figures of. The generators and the databases run on it as well. */
export interface Machine {
  readonly cpu: string;
  readonly memory: string;
  readonly kernel: string;
  readonly node: string;
  readonly postgresql: string;
  readonly redis: string;
}

export function machineOf(bed: Bed): Machine {
  const all = cpus();
  return {
    cpu: `${all.length} cores of ${all[0]?.model ?? 'an unknown CPU'}`,
    memory: `${Math.round(totalmem() / 1_073_741_824)} GiB`,
    kernel: `${process.platform} ${release()}`,
    node: `Node.js ${process.versions.node}`,
    postgresql: `PostgreSQL ${bed.postgresVersion}`,
    redis: bed.redis === null ? 'no Redis' : `Redis ${bed.redis.version}`,
  };
}
