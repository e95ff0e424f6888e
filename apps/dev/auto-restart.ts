import { setTimeout as sleep } from 'node:timers/promises';

/** A server or process that was launched. */
export interface Running {
  /** Resolves when it has ended, with the reason in a few words. Never rejects. */
  readonly ended: Promise<string>;
  /** Resolves when it serves; rejects if it ends before. */
  readonly ready: Promise<void>;
  /** Resolves when it has ended; `hurry` asks not to wait for work in progress. */
  stop(hurry: AbortSignal): Promise<void>;
}

const MIN_PAUSE_MS = 200;
const MAX_PAUSE_MS = 5_000;
/** After this time in service, the next restart is quick again. */
const STABLE_MS = 10_000;

/** Launches something again whenever it ends, until it is stopped. */
export class AutoRestart {
  private current: Promise<Running> | undefined;
  private readonly stopping = new AbortController();

  constructor(
    private readonly name: string,
    /** @param stopping ends a launch that is not done: it may reject then */
    private readonly launch: (stopping: AbortSignal) => Promise<Running>,
  ) {}

  /** Resolves when it serves. Rejects if it ends before that: only what has served once is launched again. */
  async start(): Promise<void> {
    this.current = this.launch(this.stopping.signal);
    const running = await this.current;
    await running.ready;
    void this.keepRunning(running);
  }

  async restart(hurry: AbortSignal): Promise<void> {
    const running = await this.current?.catch(() => undefined);
    await running?.stop(hurry);
  }

  async stop(hurry: AbortSignal): Promise<void> {
    this.stopping.abort();
    await this.restart(hurry);
  }

  private async keepRunning(first: Running): Promise<void> {
    const { signal } = this.stopping;
    let running: Running | undefined = first;
    let pauseMs = MIN_PAUSE_MS;
    for (;;) {
      const since = Date.now();
      const reason = await running?.ended;
      if (signal.aborted) return;
      if (reason !== undefined) console.error(`${this.name} ended (${reason}); starting it again.`);
      if (Date.now() - since > STABLE_MS) pauseMs = MIN_PAUSE_MS;
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
      pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS);
      running = await this.relaunch();
    }
  }

  private async relaunch(): Promise<Running | undefined> {
    if (this.stopping.signal.aborted) return undefined;
    this.current = this.launch(this.stopping.signal);
    return this.current.catch((error: unknown) => {
      if (this.stopping.signal.aborted) return undefined;
      console.error(`${this.name} could not be started: ${error instanceof Error ? error.message : String(error)}`);
      return undefined;
    });
  }
}
