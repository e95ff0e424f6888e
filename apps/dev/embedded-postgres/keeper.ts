import type { ChildProcess } from 'node:child_process';
import { type RunAs, spawnAs } from './run-as.js';

/**
 * Runs the server, and shuts it down (SIGINT: fast) when standard input ends, which also happens when this process is
 * killed. POSIX gives background jobs no standard input, hence its copy as descriptor 3. Signals to the whole group are
 * ignored, so that processes which finish their work still have a database.
 */
const SCRIPT = `
trap '' INT TERM HUP
exec 3<&0 </dev/null
"$@" 3<&- &
postgres=$!
{ read -r _ <&3; kill -INT "$postgres"; } 2>/dev/null &
watcher=$!
exec 3<&-
wait "$postgres"
status=$?
kill -KILL "$watcher" 2>/dev/null
exit "$status"
`;

/** The shell that keeps one server process. */
export class Keeper {
  /** Resolves when the shell has ended, and with it the server, unless the shell was killed. */
  readonly exited: Promise<void>;
  private running = true;

  private constructor(private readonly shell: ChildProcess) {
    shell.stdin?.on('error', () => undefined);
    this.exited = new Promise((resolve) => {
      const ended = () => {
        this.running = false;
        resolve();
      };
      shell.once('exit', ended).once('error', ended);
    });
  }

  static start(runAs: RunAs, command: readonly string[], log: number): Keeper {
    return new Keeper(
      spawnAs(runAs, '/bin/sh', ['-c', SCRIPT, 'sluice-postgres', ...command], {
        stdio: ['pipe', log, log],
        detached: true,
      }),
    );
  }

  get isRunning(): boolean {
    return this.running;
  }

  /** Makes the server shut down. */
  release(): void {
    this.shell.stdin?.destroy();
  }
}
