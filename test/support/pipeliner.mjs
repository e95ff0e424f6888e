import { connect } from 'node:net';

/*
 * Sends a request again and again on several connections, without waiting for responses, and opens another connection
 * for each that the server closes.
 */
const { URL: url, CONNECTIONS, REQUEST = '' } = process.env;
const { hostname, port } = new URL(url);
const chunk = Buffer.from(REQUEST.repeat(Math.ceil(8_192 / REQUEST.length)));

function open() {
  const socket = connect({ host: hostname, port: Number(port) });
  const send = () => socket.writableNeedDrain || socket.write(chunk);
  const timer = setInterval(send, Math.max(4, Number(CONNECTIONS) / 2));
  socket.on('connect', send).resume();
  socket.on('error', () => undefined);
  socket.on('close', () => {
    clearInterval(timer);
    setTimeout(open, 200);
  });
}

for (let count = 0; count < Number(CONNECTIONS); count++) open();
process.on('disconnect', () => process.exit());
