/**
 * `node dist/apps/cli/health.js live` or `ready`: exits with 0 if the process in the same container is live or ready,
 * else with 1. It loads nothing else, because a container runs it every few seconds.
 */
function setting(name: string, fallback: string): string {
  const text = process.env[name];
  return text === undefined || text === '' ? fallback : text;
}

const listening = setting('MANAGEMENT_HOST', '127.0.0.1');
const host = ['0.0.0.0', '::'].includes(listening) ? '127.0.0.1' : listening;
const origin = `http://${host.includes(':') ? `[${host}]` : host}:${setting('MANAGEMENT_PORT', '9464')}`;
const healthy = await fetch(`${origin}/health/${process.argv[2] ?? 'ready'}`).then(
  ({ ok }) => ok,
  () => false,
);
process.exit(healthy ? 0 : 1);

export {};
