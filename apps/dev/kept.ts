import { setTimeout as sleep } from 'node:timers/promises';

/** Something that runs beside us. */
export interface Running {
  /** Resolves, with a few words on how, when it has ended. Never rejects. */
  readonly ended: Promise<string>;
  /** Resolves when it serves; rejects if it ends before. */
  readonly ready: Promise<void>;
  /** Resolves when it has ended; `hurry` asks not to wait for work in hand. */
  stop(hurry: AbortSignal): Promise<void>;
}

const shortestPause = 200;
const longestPause = 5_000;
/** Who ran this long, in milliseconds, did not fail because of how it was started. */
const stable = 10_000;

/** Starts it again whenever it ends, until it is stopped. */
export class Kept {
  private current: Promise<Running> | undefined;
  private readonly stopping = new AbortController();

  constructor(
    private readonly name: string,
    private readonly launch: () => Promise<Running>,
  ) {}

  /** Resolves when it serves; rejects if it can't: only what has once served is started again. */
  async start(): Promise<void> {
    this.current = this.launch();
    const running = await this.current;
    await running.ready;
    void this.keep(running);
  }

  async stop(hurry: AbortSignal): Promise<void> {
    this.stopping.abort();
    const running = await this.current?.catch(() => undefined);
    await running?.stop(hurry);
  }

  private async keep(first: Running): Promise<void> {
    let running: Running | undefined = first;
    let pause = shortestPause;
    for (;;) {
      const since = Date.now();
      const how = running ? await running.ended : '';
      if (this.stopping.signal.aborted) return;
      if (running) console.error(`${this.name} ended (${how}); starting it again.`);
      if (Date.now() - since > stable) pause = shortestPause;
      await sleep(pause, undefined, { signal: this.stopping.signal }).catch(() => undefined);
      pause = Math.min(pause * 2, longestPause);
      running = await this.relaunch();
    }
  }

  private async relaunch(): Promise<Running | undefined> {
    if (this.stopping.signal.aborted) return undefined;
    this.current = this.launch();
    return this.current.catch((error: unknown) => {
      console.error(`${this.name} could not be started: ${error instanceof Error ? error.message : String(error)}`);
      return undefined;
    });
  }
}
