import { connect } from 'node:net';
import { performance } from 'node:perf_hooks';

/*
 * Opens PER_SECOND connections a second for SECONDS, without waiting for earlier ones, and sends REQUEST on each.
 * Prints a JSON array with the status of each first response and the milliseconds until it arrived.
 */
const { URL: url, REQUEST = '', PER_SECOND, SECONDS } = process.env;
const { hostname, port } = new URL(url);
const total = Number(PER_SECOND) * Number(SECONDS);
const experiences = [];
let opened = 0;

function open() {
  const since = performance.now();
  const socket = connect({ host: hostname, port: Number(port) }, () => socket.write(REQUEST));
  const end = (status) => {
    socket.destroy();
    experiences.push({ status, ms: performance.now() - since });
    if (experiences.length === total) process.stdout.write(`${JSON.stringify(experiences)}\n`, () => process.exit());
  };
  socket.once('data', (data) => end(Number(data.toString('latin1', 9, 12))));
  socket.on('error', () => end(0));
}

const since = performance.now();
setInterval(() => {
  const due = Math.min(total, ((performance.now() - since) / 1_000) * Number(PER_SECOND));
  for (; opened < due; opened++) open();
}, 1);
