/**
 * `node dist/apps/cli/health.js live` or `ready`: ends with 0 when the process beside it, in the same container, says
 * that it is. It reads no other settings and loads nothing: a container runs it every few seconds.
 */
function given(text: string | undefined, or: string): string {
  return text === undefined || text === '' ? or : text;
}

const listening = given(process.env.MANAGEMENT_HOST, '127.0.0.1');
// Who listens on all addresses is asked at one of them.
const host = ['0.0.0.0', '::'].includes(listening) ? '127.0.0.1' : listening;
const origin = `http://${host.includes(':') ? `[${host}]` : host}:${given(process.env.MANAGEMENT_PORT, '9464')}`;
const healthy = await fetch(`${origin}/health/${process.argv[2] ?? 'ready'}`).then(
  ({ ok }) => ok,
  () => false,
);
process.exit(healthy ? 0 : 1);

export {};
