/**
 * The receiver of the HTTP handler and of webhooks: it accepts every message, but at /silent it never responds. Asked by
 * its parent, it sends the number of distinct messages, counted once for each URL.
 */
import { createServer } from 'node:http';

const ids = new Set<string>();

const server = createServer((request, response) => {
  const id = request.headers['idempotency-key'] ?? request.headers['webhook-id'];
  ids.add(`${String(request.url)} ${String(id)}`);
  if (request.url === '/silent') return;
  request.resume().once('end', () => response.writeHead(204).end());
});
process.on('message', () => process.send?.({ ids: ids.size }));
process.once('disconnect', () => process.exit(0));
process.once('SIGTERM', () => process.exit(0));
server.listen(Number(process.env.PORT), '127.0.0.1', () => process.send?.('ready'));
