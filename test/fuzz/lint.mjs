/** Checks the OpenAPI document with two linters: `npm run lint:api`. */
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { prepare } from '../../apps/dev/prepare.mjs';

const LINTERS = [
  ['@stoplight/spectral-cli@6.16.3', 'spectral', '--fail-severity=hint', '--ruleset', 'spectral.yaml'],
  ['@redocly/cli@2.77.0', 'redocly', '--config', 'redocly.yaml'],
];

await prepare();
const { startServer } = await import('./server.mjs');
const server = await startServer();
const folder = await mkdtemp(join(tmpdir(), 'sluice-lint-'));
try {
  const file = join(folder, 'openapi.json');
  const document = await (await fetch(`${server.url}/openapi.json`)).json();
  await writeFile(file, JSON.stringify(document, null, 2));
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  for (const [name, program, ...options] of LINTERS) {
    console.log(`${name} …`);
    const args = ['--yes', '--package', name, program, 'lint', file, ...options];
    const { status } = spawnSync('npx', args, { cwd: import.meta.dirname, env, stdio: 'inherit' });
    process.exitCode ||= status ?? 1;
  }
} finally {
  await rm(folder, { recursive: true });
  await server.stop();
}
