import type { ChildProcess } from 'node:child_process';
import { type RunAs, spawnAs } from './run-as.js';

/**
 * Runs the server, and shuts it down (SIGINT: fast) when its input ends: because we closed it, or because we are gone,
 * however we went. POSIX gives background jobs no input, hence the copy of it as 3. It outlives a Ctrl-C or SIGTERM to
 * the whole group, so that the server is still there for those who have work to finish.
 */
const script = `
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
  /** Resolves when the shell has ended, and with it, unless the shell was killed, the server. */
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
      spawnAs(runAs, '/bin/sh', ['-c', script, 'sluice-postgres', ...command], {
        stdio: ['pipe', log, log],
        detached: true,
      }),
    );
  }

  get isRunning(): boolean {
    return this.running;
  }

  /** Lets go of the server, which makes it shut down. */
  release(): void {
    this.shell.stdin?.destroy();
  }
}
