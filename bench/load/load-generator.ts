import { Connection } from './connection.js';
import { requestsOf, type Load, type GeneratorResult } from './request.js';

/** A request without a response this long after the last one was sent is lost. */
const TIMEOUT_MS = 30_000;
/** Connections opened concurrently: Node.js accepts one per iteration of its event loop. */
const OPENED_AT_ONCE = 16;
/** Interval of the open loop; a request may be late by this much. */
const TICK_MS = 1;

/** Sends one load and measures the responses. */
export class LoadGenerator {
  private readonly responses: Record<number, number> = {};
  private readonly measured: Record<number, number> = {};
  private readonly latencies: Record<number, number[]> = {};
  private readonly request: (n: number) => Buffer;
  /** Open loop: free connections, and the callback when one becomes free. */
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

  /** @param notify called when the measured part begins and ends */
  async run(notify: (word: 'measuring' | 'measured') => void): Promise<GeneratorResult> {
    const { load } = this;
    const connections = Array.from({ length: load.connections }, () => new Connection(load.url));
    if (load.rate === null) for (const connection of connections) this.closedLoop(connection);
    else this.idle.push(...(await opened(connections)));
    // At half the rate, so that no backlog builds up before V8 has compiled the hot path.
    const warmUp = load.rate === null ? null : this.openLoop(load.rate / 2);
    await pause(load.warmUpSeconds * 1_000);
    warmUp?.stop();
    notify('measuring');
    this.from = performance.now();
    const schedule = load.rate === null ? null : this.openLoop(load.rate);
    const cpu = process.cpuUsage();
    await pause(load.seconds * 1_000);
    this.to = performance.now();
    const { user, system } = process.cpuUsage(cpu);
    notify('measured');
    schedule?.stop();
    await this.drained();
    for (const connection of connections) connection.close();
    return {
      responses: this.responses,
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
   * Request n is due after n / rate seconds. Its latency counts from then, even if no connection is free.
   * @returns functions to stop the loop and to count the requests that were due but not sent
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
    this.responses[status] = (this.responses[status] ?? 0) + 1;
    if (now >= this.from && now < this.to) this.measured[status] = (this.measured[status] ?? 0) + 1;
    if (since >= this.from && since < this.to) (this.latencies[status] ??= []).push(now - since);
  }

  /** An open loop that is behind keeps sending overdue requests until all have a response. */
  private async drained(): Promise<void> {
    const deadline = performance.now() + TIMEOUT_MS;
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
