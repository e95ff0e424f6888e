import type { Started } from './supervisor.js';

/** PostgreSQL drops root's rights. The others keep them: a handler may need them, and a port below 1024 does. */
const ROOT_WARNING =
  process.getuid?.() === 0 ? 'Warning:        the API and the worker run as root; start as another user\n' : '';

/** What to do next, with commands to paste. */
export function welcome({
  host,
  port,
  management,
  operatorsKey,
  hasPortal,
  devKey,
  isSignupOpen,
  dataDir,
}: Started): string {
  const url = `http://${reachable(host)}:${port}`;
  const bases = management.ports.map((number) => `http://${reachable(management.host)}:${number}`);
  const all = (path: string) => bases.map((base) => `${base}${path}`).join('  ');
  const signup = isSignupOpen ? '' : 'Sign-up:        closed; set SIGNUP=open to let clients create accounts\n';
  const page = hasPortal ? `Operators:      ${bases[0]}/ (key: ${operatorsKey})\n` : '';
  const queue = `Queue:          ${bases[0]}/queues (any user; password: ${operatorsKey})\n`;
  const operators = operatorsKey === null ? '' : page + queue;
  return `
Sluice is ready: ${url}

Send a message:
curl -i ${url}/messages -H 'Authorization: Bearer ${devKey.key}' -H 'Content-Type: application/json' -d '{"message":"Hello, Sluice"}'

API key:        ${devKey.file}
${signup}Data:           ${dataDir.path}
Health:         ${all('/health/ready')}
Metrics:        ${all('/metrics')}
${operators}Documentation:  ${url}/docs
${ROOT_WARNING}Stop with Ctrl-C.
`;
}

function reachable(host: string): string {
  if (['', '0.0.0.0', '::'].includes(host)) return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}
