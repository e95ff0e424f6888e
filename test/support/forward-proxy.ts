import { createServer, request, type Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { listen } from './processes.js';

/** A proxy that takes requests and tunnels to one service, whatever their host is. */
export class ForwardProxy {
  /** The URLs, and the hosts of tunnels, that it was asked for. */
  readonly asked: string[] = [];
  private readonly server: Server;

  constructor(target: string) {
    this.server = createServer((incoming, response) => {
      const { method, headers, url = '' } = incoming;
      this.asked.push(url);
      const { pathname, search } = new URL(url, target);
      const options = { method, headers: { ...headers, host: new URL(target).host } };
      incoming.pipe(
        request(`${target}${pathname}${search}`, options, (answer) => {
          response.writeHead(answer.statusCode ?? 500, answer.headers);
          answer.pipe(response);
        }),
      );
    });
    this.server.on('connect', ({ url = '' }, socket: Socket) => {
      this.asked.push(url);
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.pipe(connect(Number(new URL(target).port), '127.0.0.1')).pipe(socket);
    });
  }

  start(): Promise<string> {
    return listen(this.server);
  }

  stop(): void {
    this.server.close().closeAllConnections();
  }
}
