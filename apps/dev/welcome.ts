import type { Started } from './supervisor.js';

/** What to do now, ready to be pasted. */
export function welcome({ host, port, management, apiKey, dataDir }: Started): string {
  const url = `http://${reachable(host)}:${port}`;
  const health = management.ports.map((own) => `http://${reachable(management.host)}:${own}/health/ready`);
  return `
Sluice is ready: ${url}

Send a message:
curl -i ${url}/messages -H 'Authorization: Bearer ${apiKey}' -H 'Content-Type: application/json' -d '{"message":"Hello, Sluice"}'

API key:        ${dataDir.file('dev-key')}
Data:           ${dataDir.path}
Health:         ${health.join('  ')}
Documentation:  README.md
Stop with Ctrl-C.
`;
}

function reachable(host: string): string {
  if (['', '0.0.0.0', '::'].includes(host)) return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}
