import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { listen } from './processes.js';

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  /** When it arrived, in milliseconds of `performance.now()`. */
  readonly at: number;
}

/** What a receiver answers to the n-th request at a path, from 1: a status, or anything. */
export type Behaviour = number | ((response: ServerResponse, received: Received, n: number) => void);

/** A server that records the requests that it gets. */
export class Receiver {
  origin = '';
  readonly received: Received[] = [];
  private readonly behaviours = new Map<string, Behaviour>();
  private readonly server = createServer((request, response) => {
    void this.receive(request, response);
  });

  private constructor() {
    this.server.on('clientError', () => undefined);
  }

  static async start(): Promise<Receiver> {
    const receiver = new Receiver();
    receiver.origin = await listen(receiver.server);
    return receiver;
  }

  /** The URL of a path; it answers 204 by default. */
  url(path: string, behaviour: Behaviour = 204): string {
    this.behaviours.set(path, behaviour);
    return `${this.origin}${path}`;
  }

  at(path: string): Received[] {
    return this.received.filter((one) => one.path === path);
  }

  /** The ids of the messages that arrived at a path. */
  ids(path: string): string[] {
    return this.at(path).map(({ headers }) => String(headers['webhook-id']));
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  private async receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '';
    const body = await text(request).catch(() => '');
    const received = { method: request.method ?? '', path, headers: request.headers, body, at: performance.now() };
    this.received.push(received);
    const behaviour = this.behaviours.get(path) ?? 404;
    if (typeof behaviour === 'number') response.writeHead(behaviour).end();
    else behaviour(response, received, this.at(path).length);
  }
}
