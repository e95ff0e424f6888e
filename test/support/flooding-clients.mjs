import { Agent, request } from 'node:http';

/*
 * Sends a body of a MiB with very many names again and again, on CONNECTIONS connections for each of the KEYS, a JSON
 * array. Prints the status of each response. In a process of its own, so that it does not delay the client that a test
 * measures.
 */
const { URL: url, KEYS = '[]', CONNECTIONS = '2' } = process.env;
const names = Array.from({ length: 70_000 }, (_, index) => `"name_${index}":0`);
const body = Buffer.from(`{${names.join()},"message":"hello"}`);

function send(key, agent) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'content-length': body.length };
  const again = () => setTimeout(send, 5, key, agent);
  request(`${url}/messages`, { method: 'POST', headers, agent }, (response) => {
    process.stdout.write(`${response.statusCode}\n`);
    response.resume().on('close', again);
  })
    .on('error', again)
    .end(body);
}

for (const key of JSON.parse(KEYS)) {
  const agent = new Agent({ keepAlive: true });
  for (let count = 0; count < Number(CONNECTIONS); count++) send(key, agent);
}
