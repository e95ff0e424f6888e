/**
 * The receiver of the HTTP handler, of webhooks and of rivals: it accepts every message, but at /silent it never responds.
 * Asked by its parent for the `count`, it sends the number of distinct messages, counted once for each URL, and when the
 * first and the last one arrived since it was told to `restart` the clock.
 */
import { createServer } from 'node:http';

const { PORT, ID_HEADER = 'idempotency-key' } = process.env;
const ids = new Set<string>();
let [first, last] = [0, 0];

const server = createServer((request, response) => {
  const id = request.headers[ID_HEADER] ?? request.headers['webhook-id'];
  last = Date.now();
  first ||= last;
  ids.add(`${String(request.url)} ${String(id)}`);
  if (request.url === '/silent') return;
  request.resume().once('end', () => response.writeHead(204).end());
});
process.on('message', (asked) => {
  if (asked === 'count') process.send?.({ ids: ids.size, first, last });
  else first = 0;
});
process.once('disconnect', () => process.exit(0));
process.once('SIGTERM', () => process.exit(0));
server.listen(Number(PORT), '127.0.0.1', () => process.send?.('ready'));
