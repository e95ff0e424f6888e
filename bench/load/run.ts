import { Connection } from './connection.js';
import { requestsOf, type Load, type Loaded } from './request.js';

/** What is not answered this long after the last request is lost, in milliseconds. */
const PATIENCE_MS = 30_000;
/** How often an open loop looks what is due: a request that waits for it is late by that. */
const TICK_MS = 1;

/** One load, from its first request to its last answer. */
export class Run {
  private readonly answers: Record<number, number> = {};
  private readonly measured: Record<number, number> = {};
  private readonly latencies: Record<number, number[]> = {};
  private readonly request: (n: number) => Buffer;
  private sent = 0;
  private lost = 0;
  private underWay = 0;
  private from = Infinity;
  private to = Infinity;

  constructor(private readonly load: Load) {
    this.request = requestsOf(load);
  }

  /** @param say told when the measured part begins and ends */
  async run(say: (word: 'measuring' | 'measured') => void): Promise<Loaded> {
    const { load } = this;
    const connections = Array.from({ length: load.connections }, () => new Connection(load.url));
    const schedule = load.rate === null ? null : this.openLoop(connections, load.rate);
    if (schedule === null) for (const connection of connections) this.closedLoop(connection);
    await pause(load.warmUpSeconds * 1_000);
    say('measuring');
    this.from = performance.now();
    const cpu = process.cpuUsage();
    await pause(load.seconds * 1_000);
    this.to = performance.now();
    const { user, system } = process.cpuUsage(cpu);
    say('measured');
    schedule?.sendDue();
    await this.drained();
    for (const connection of connections) connection.close();
    return {
      answers: this.answers,
      lost: this.lost + this.underWay,
      unsent: schedule?.unsent() ?? 0,
      seconds: (this.to - this.from) / 1_000,
      measured: this.measured,
      latencies: Object.fromEntries(
        Object.entries(this.latencies).map(([status, all]) => [status, Float64Array.from(all)]),
      ),
      cpuMicros: user + system,
    };
  }

  private closedLoop(connection: Connection): void {
    if (performance.now() > this.to) return;
    this.ask(connection, performance.now(), () => {
      this.closedLoop(connection);
    });
  }

  /**
   * Request n is due at n / rate seconds, and its latency counts from then, even if no connection is free.
   * @returns what sends all that is due, and what tells how many were due in the measured part and have not been sent
   */
  private openLoop(connections: readonly Connection[], perSecond: number) {
    const since = performance.now();
    const dueAt = (n: number) => since + (n / perSecond) * 1_000;
    const idle = [...connections];
    let next = 0;
    const sendDue = () => {
      while (dueAt(next) <= performance.now() && dueAt(next) < this.to) {
        const connection = idle.pop();
        if (connection === undefined) return;
        this.ask(connection, dueAt(next++), () => {
          idle.push(connection);
          sendDue();
        });
      }
    };
    const timer = setInterval(() => {
      sendDue();
      if (performance.now() > this.to) clearInterval(timer);
    }, TICK_MS);
    const unsent = () => {
      const first = Math.max(next, Math.ceil(((this.from - since) / 1_000) * perSecond));
      return Math.max(0, Math.ceil(((this.to - since) / 1_000) * perSecond) - first);
    };
    return { sendDue, unsent };
  }

  private ask(connection: Connection, since: number, then: () => void): void {
    this.underWay++;
    connection.send(this.request(this.sent++), (status) => {
      this.underWay--;
      if (status === null) this.lost++;
      else this.note(status, since);
      then();
    });
  }

  private note(status: number, since: number): void {
    const now = performance.now();
    this.answers[status] = (this.answers[status] ?? 0) + 1;
    if (now >= this.from && now < this.to) this.measured[status] = (this.measured[status] ?? 0) + 1;
    if (since >= this.from && since < this.to) (this.latencies[status] ??= []).push(now - since);
  }

  /** An open loop that is behind goes on sending what was due until the answers come to nothing. */
  private async drained(): Promise<void> {
    const deadline = performance.now() + PATIENCE_MS;
    while (this.underWay > 0 && performance.now() < deadline) await pause(5);
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
