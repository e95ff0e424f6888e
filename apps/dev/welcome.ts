import type { Started } from './supervisor.js';

/** PostgreSQL drops root's rights. The others keep them: a handler may need them, and a port below 1024 does. */
const ROOT_WARNING =
  process.getuid?.() === 0 ? 'Warning:        the API and the worker run as root; start as another user\n' : '';

/** What to do next, with commands to paste. */
export function welcome({ host, port, management, queue, devKey, isSignupOpen, dataDir }: Started): string {
  const url = `http://${reachable(host)}:${port}`;
  const bases = management.ports.map((number) => `http://${reachable(management.host)}:${number}`);
  const all = (path: string) => bases.map((base) => `${base}${path}`).join('  ');
  const signup = isSignupOpen ? '' : 'Sign-up:        closed; set SIGNUP=open to let clients create accounts\n';
  return `
Sluice is ready: ${url}

Send a message:
curl -i ${url}/messages -H 'Authorization: Bearer ${devKey.key}' -H 'Content-Type: application/json' -d '{"message":"Hello, Sluice"}'

API key:        ${devKey.file}
${signup}Data:           ${dataDir.path}
Health:         ${all('/health/ready')}
Metrics:        ${all('/metrics')}
${queue === null ? '' : `Queue:          ${bases[0]}/queues (any user; password: ${queue})\n`}Documentation:  ${url}/docs
${ROOT_WARNING}Stop with Ctrl-C.
`;
}

function reachable(host: string): string {
  if (['', '0.0.0.0', '::'].includes(host)) return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}
