import { connect } from 'node:net';

/*
 * Opens a connection every EVERY_MS for each of the HEADS, a JSON array, and sends it with BODY_BYTES. Reads nothing of
 * the response but its status, which it prints, or with READS=0 nothing at all. In a process of its own, so that it
 * does not delay the client that a test measures.
 */
const { URL: url = '', HEADS = '[]', BODY_BYTES = '0', READS = '1', EVERY_MS = '10' } = process.env;
const { hostname, port } = new URL(url);
const body = Buffer.alloc(Number(BODY_BYTES), 'a');
const heads = JSON.parse(HEADS);

for (const head of heads) {
  const socket = connect(Number(port), hostname).on('error', () => undefined);
  if (READS === '0') socket.pause();
  else socket.once('data', (data) => process.stdout.write(`${data.toString('latin1', 9, 12)}\n`));
  socket.write(head);
  socket.write(body);
  await new Promise((resolve) => setTimeout(resolve, Number(EVERY_MS)));
}
process.send('ready');
