import { Connection } from './connection.js';
import { requestsOf, type Load, type Loaded } from './request.js';

/** What is not answered this long after the last request is lost, in milliseconds. */
const PATIENCE_MS = 30_000;
/** Connections that are opened at the same time: Node.js accepts one in each turn of its event loop. */
const OPENED_AT_ONCE = 16;
/** How often an open loop looks what is due: a request that waits for it is late by that. */
const TICK_MS = 1;

/** One load, from its first request to its last answer. */
export class Run {
  private readonly answers: Record<number, number> = {};
  private readonly measured: Record<number, number> = {};
  private readonly latencies: Record<number, number[]> = {};
  private readonly request: (n: number) => Buffer;
  /** In an open loop: connections without a request, and what is done when one comes back. */
  private readonly idle: Connection[] = [];
  private whenIdle: () => void = () => undefined;
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
    if (load.rate === null) for (const connection of connections) this.closedLoop(connection);
    else this.idle.push(...(await opened(connections)));
    // At half the rate, so that nothing piles up before the server has compiled what it runs.
    const warmUp = load.rate === null ? null : this.openLoop(load.rate / 2);
    await pause(load.warmUpSeconds * 1_000);
    warmUp?.stop();
    say('measuring');
    this.from = performance.now();
    const schedule = load.rate === null ? null : this.openLoop(load.rate);
    const cpu = process.cpuUsage();
    await pause(load.seconds * 1_000);
    this.to = performance.now();
    const { user, system } = process.cpuUsage(cpu);
    say('measured');
    schedule?.stop();
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
   * @returns what ends it, and what tells how many were due until then and have not been sent
   */
  private openLoop(perSecond: number) {
    const since = performance.now();
    let until = Infinity;
    let next = 0;
    const dueAt = (n: number) => since + (n / perSecond) * 1_000;
    const sendDue = () => {
      while (dueAt(next) <= Math.min(performance.now(), until)) {
        const connection = this.idle.pop();
        if (connection === undefined) return;
        this.ask(connection, dueAt(next++), () => {
          this.idle.push(connection);
          this.whenIdle();
        });
      }
    };
    this.whenIdle = sendDue;
    const timer = setInterval(sendDue, TICK_MS);
    const stop = () => {
      clearInterval(timer);
      sendDue();
      until = performance.now();
    };
    return { stop, unsent: () => Math.max(0, Math.ceil(((until - since) / 1_000) * perSecond) - next) };
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

async function opened(connections: readonly Connection[]): Promise<readonly Connection[]> {
  for (let first = 0; first < connections.length; first += OPENED_AT_ONCE) {
    await Promise.all(connections.slice(first, first + OPENED_AT_ONCE).map((connection) => connection.open()));
  }
  return connections;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
