import 'reflect-metadata';
import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { createLogger } from '#platform/observability/logging.js';
import { readSettings } from '../../dist/apps/settings.js';
import { startApi } from '../../dist/apps/api/api.js';

/*
 * Runs APIs for the tests of one Jest worker, so that Nest is loaded once for all of them: POST / starts one with the
 * settings in the body, which may name a LOG_FILE, and DELETE /<id> stops it. Ends with the process that started it.
 */
const apis = [];

async function start({ LOG_FILE, ...environment }) {
  const settings = readSettings(environment);
  const destination = LOG_FILE && { write: (line) => appendFileSync(LOG_FILE, line) };
  const api = await startApi(settings, createLogger(settings.logLevel, 'api', destination));
  return { id: apis.push(api) - 1, url: api.url, managementUrl: api.managementUrl };
}

const server = createServer((request, response) => {
  const work = async () =>
    request.method === 'POST' ? start(JSON.parse(await text(request))) : apis[Number(request.url.slice(1))].stop();
  work().then(
    (result = null) => response.end(JSON.stringify(result)),
    (error) => response.writeHead(500).end(`${error.constructor.name}: ${error.message}`),
  );
});
// Its client may keep a connection for as long as a test file takes to load: not ended meanwhile.
server.keepAliveTimeout = 0;

process.on('disconnect', () => process.exit());
server.listen(0, '127.0.0.1', () => process.send(`http://127.0.0.1:${server.address().port}`));
