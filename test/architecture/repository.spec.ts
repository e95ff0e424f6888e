import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join, relative, sep } from 'node:path';
import { NODE_FLAGS } from '#platform/process/node-flags.js';
import { ROOT } from '../support/processes.js';

interface Package {
  readonly dependencies: Record<string, string>;
  readonly devDependencies: Record<string, string>;
}

interface Lock {
  readonly packages: Record<string, { readonly dev?: boolean; readonly integrity?: string }>;
}

const files = sourceFiles(ROOT);

describe('The repository', () => {
  it('contains no comment about work left to do', () => {
    const left = files
      .filter((path) => path !== 'package-lock.json')
      .flatMap((path) => linesOf(path, /\b(?:TO|FIX)(?:DO|ME)\b/));
    expect(left).toEqual([]);
  });

  it('runs all of its tests', () => {
    const tests = files.filter((path) => path.startsWith('test/') || path.endsWith('.spec.ts'));
    const kept = /\b(?:describe|it|test)(?:\.\w+)*\.(?:only|skip|todo)\b|\b[fx](?:describe|it|test)\(/;
    expect(tests).toContain('test/architecture/repository.spec.ts');
    // The only place that may skip tests, which it reports.
    const others = tests.filter((path) => path !== 'test/support/skipping.ts');
    expect(others.flatMap((path) => linesOf(path, kept))).toEqual([]);
  });

  describe('names the tables and functions of BullMQ in one folder', () => {
    const named = /\bbullmq\.(?:job|event|meta|clean|[a-z]+_\w+)\b|'bullmq_\w+'/;
    const internals = 'libs/delivery/adapters/bullmq/internals/';

    it('and nowhere else', () => {
      const statements = files.filter(
        (path) => /^(?:apps|libs)\/.*(?<!\.spec)\.ts$/.test(path) && named.test(read(path)),
      );
      expect(statements.filter((path) => !path.startsWith(internals))).toEqual([]);
      expect(statements).toContain(`${internals}postgres/add-jobs.sql.ts`);
    });

    it('which names no tables of Sluice', () => {
      const ours = files.filter((path) => path.startsWith(internals) && /\bsluice\.\w+/.test(read(path)));
      expect(ours).toEqual([]);
    });

    it.each(['SELECT FROM bullmq.job', "SELECT pg_notify('bullmq_jobs', $1)"])('which would be noticed: %s', (sql) => {
      expect(sql).toMatch(named);
    });
  });

  describe('changes the rows of messages, and adds to the outbox, in one folder', () => {
    // The partitions of old messages, sluice.messages_…, are removed by another context.
    const changes =
      /\b(?:(?:UPDATE|DELETE\s+FROM)(?:\s+ONLY)?\s+sluice\.messages|INTO\s+sluice\.(?:messages|outbox))\b/i;

    it('and nowhere else', () => {
      const statements = files.filter(
        (path) => /^(?:apps|libs)\/.*(?<!\.spec)\.ts$/.test(path) && changes.test(read(path)),
      );
      const others = statements.filter((path) => !path.startsWith('libs/messages/adapters/postgres/'));
      expect(others).toEqual([]);
      expect(statements).toContain('libs/messages/adapters/postgres/start-delivery.sql.ts');
    });

    it.each([
      'UPDATE sluice.messages m SET status = $1',
      'WITH a AS (\n  update only\n  sluice.messages SET status = $1)',
      'DELETE FROM sluice.messages WHERE id = $1',
      'INSERT INTO sluice.messages (id) VALUES ($1)',
      'INSERT INTO sluice.outbox (message_ids) VALUES ($1)',
    ])('which would be noticed: %s', (sql) => {
      expect(sql).toMatch(changes);
    });
  });

  it('proves its guarantees by tests that exist', () => {
    const named = readFileSync('docs/guarantees.md', 'utf8').match(/\btest\/[\w/.-]+\.spec\.ts/g) ?? [];
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter((path) => !files.includes(path))).toEqual([]);
  });

  it('pins the version of each package', () => {
    const { dependencies, devDependencies } = JSON.parse(read('package.json')) as Package;
    const versions = Object.entries({ ...devDependencies, ...dependencies });
    expect(versions.filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([]);
    expect(versions).not.toEqual([]);
  });

  it('runs no install scripts of packages, some of which send telemetry', () => {
    expect(execFileSync('npm', ['config', 'get', 'ignore-scripts'], { cwd: ROOT, stdio: 'pipe' }).toString()).toBe(
      'true\n',
    );
  });

  it('locks the contents of each package that is installed in production', () => {
    const { packages } = JSON.parse(read('package-lock.json')) as Lock;
    const locked = Object.entries(packages).filter(([path, { dev }]) => path !== '' && dev !== true);
    expect(locked.filter(([, { integrity }]) => integrity === undefined)).toEqual([]);
  });

  it.each([
    ['fails for severe vulnerabilities', { severity: 'high' }, 1],
    ['passes for others', { severity: 'low' }, 0],
    ['is skipped without a report', null, 2],
  ])('is audited by a script that %s', async (_, found, status) => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-npm-'));
    const report = found && { metadata: { vulnerabilities: { total: 1 } }, vulnerabilities: { planted: found } };
    await writeFile(join(folder, 'npm'), `#!/bin/sh\necho '${JSON.stringify(report ?? { message: '405' })}'`, {
      mode: 0o755,
    });
    const env = { ...process.env, PATH: `${folder}:${process.env.PATH ?? ''}` };
    const audit = spawnSync(process.execPath, ['scripts/audit.mjs'], { cwd: ROOT, env, encoding: 'utf8' });
    await rm(folder, { recursive: true });
    expect(audit.status).toBe(status);
    expect(audit.stdout.includes('Skipped')).toBe(status === 2);
  });

  it('starts Node.js with the same flags wherever it serves', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const flags = NODE_FLAGS.join(' ');
    for (const app of ['api', 'worker']) {
      expect(scripts[`start:${app}`]).toBe(`exec node ${flags} dist/apps/${app}/main.js`);
    }
    for (const file of ['Dockerfile', 'docs/deploy.md']) expect(read(file)).toContain(`NODE_OPTIONS=${flags}`);
  });

  it('lists existing projects for the Nest CLI', () => {
    const text = read('nest-cli.json');
    const paths = [...text.matchAll(/"(?:root|sourceRoot|tsConfigPath)": "([^"]+)"/g)].map(([, path = '']) => path);
    const entries = [...text.matchAll(/"sourceRoot": "([^"]+)",\s+"entryFile": "([^"]+)"/g)];
    const named = [...paths, ...entries.map(([, folder = '', file = '']) => `${folder}/${file}.ts`)];
    expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
    expect(named).toContain('apps/api/main.ts');
  });
});

/** All files that Git does not ignore, also without Git. */
function sourceFiles(folder: string): string[] {
  const ignored = read('.gitignore').split('\n').filter(Boolean);
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.name === '.git' || ignored.includes(`${entry.name}/`) || ignored.includes(`*${extname(entry.name)}`)) {
      return [];
    }
    return entry.isDirectory() ? sourceFiles(path) : [relative(ROOT, path).split(sep).join('/')];
  });
}

function linesOf(path: string, pattern: RegExp): string[] {
  return read(path)
    .split('\n')
    .flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : []));
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}
