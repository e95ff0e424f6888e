import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ipaddr from 'ipaddr.js';
import { parseAllDocuments } from 'yaml';
import { isPublic } from '#webhooks/adapters/undici/addresses.js';
import { readSettings } from '../../apps/settings.js';
import { ROOT } from '../support/processes.js';
import { describeUnless } from '../support/skipping.js';

const HELM = process.env.HELM ?? 'helm';
const NO_HELM = spawnSync(HELM, ['version']).status === 0 ? null : 'Helm is not installed; HELM is its path.';
const CHART = join(ROOT, 'deploy/helm/sluice');
const ALL_OPTIONS = ['api.autoscaling.enabled', 'worker.autoscaling.enabled', 'ingress.enabled'].map(
  (name) => `${name}=true`,
);

interface Container {
  readonly command: readonly string[];
  readonly env: readonly { readonly name: string; readonly value?: string }[];
  readonly securityContext: object;
  readonly resources: { readonly limits: { readonly memory: string } };
}

interface PodSpec {
  readonly automountServiceAccountToken: boolean;
  readonly securityContext: object;
  readonly terminationGracePeriodSeconds?: number;
  readonly containers: readonly [Container];
}

interface Egress {
  readonly to?: readonly { readonly ipBlock: { readonly cidr: string; readonly except?: readonly string[] } }[];
}

interface Metric {
  readonly name: string;
  readonly selector: { readonly matchLabels: { readonly state: string } };
}

interface Resource {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly template: { readonly spec: PodSpec };
    readonly egress: readonly Egress[];
    readonly metrics: readonly { readonly external: { readonly metric: Metric } }[];
  };
}

describeUnless(NO_HELM)('The Helm chart', () => {
  const helm = (...args: string[]) => execFileSync(HELM, args, { encoding: 'utf8' });
  const parse = (...args: string[]): Resource[] =>
    parseAllDocuments(helm('template', 'test', CHART, ...args))
      .map((document) => document.toJS() as Resource | null)
      .filter((resource) => resource !== null);
  const render = (...sets: string[]) => parse(...sets.flatMap((set) => ['--set', set]));
  const names = (resources: readonly Resource[]) => resources.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
  const podsOf = (resources: readonly Resource[]) =>
    resources.filter(({ kind }) => ['Deployment', 'Job'].includes(kind)).map(({ spec }) => spec.template.spec);

  it('passes the linter', () => {
    expect(helm('lint', '--strict', CHART)).toContain('0 chart(s) failed');
  });

  it('has two programs that may be moved, a service, walls around them, and a migration', () => {
    const usual = [
      ...['NetworkPolicy test-api', 'NetworkPolicy test-worker'],
      ...['PodDisruptionBudget test-api', 'PodDisruptionBudget test-worker', 'Service test-api'],
      ...['Deployment test-api', 'Deployment test-worker', 'Job test-migration'],
    ];
    expect(names(render()).sort()).toEqual(usual.sort());
    const more = ['HorizontalPodAutoscaler test-api', 'HorizontalPodAutoscaler test-worker', 'Ingress test-api'];
    expect(names(render(...ALL_OPTIONS)).sort()).toEqual([...usual, ...more].sort());
    expect(names(render('networkPolicy.enabled=false')).filter((name) => name.includes('Policy'))).toEqual([]);
  });

  it('lets workers grow with the jobs that wait and the requests to endpoints, by metrics that they have', () => {
    const scaler = render(...ALL_OPTIONS).find(
      ({ kind, metadata }) => kind === 'HorizontalPodAutoscaler' && metadata.name === 'test-worker',
    );
    const scaledBy = scaler?.spec.metrics.map(({ external }) => external.metric) ?? [];
    expect(scaledBy.map(({ name }) => name)).toEqual(['sluice_queue_jobs', 'sluice_webhook_connections']);
    const documented = readFileSync(join(ROOT, 'docs/operations.md'), 'utf8').split('\n');
    for (const { name, selector } of scaledBy) {
      const row = documented.find((line) => line.startsWith(`| \`${name}\``));
      expect(row).toMatch(new RegExp(`\\| \`state\` .*\`${selector.matchLabels.state}\``));
    }
  });

  it('gives each pod minimal rights', () => {
    const pods = podsOf(render());
    expect(pods).toHaveLength(3);
    for (const pod of pods) {
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
        containers: [
          {
            securityContext: {
              ...{ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
            },
            resources: { limits: { memory: expect.any(String) as string } },
          },
        ],
      });
    }
  });

  it('sets only what is a setting, to what is accepted, and gives processes time to stop', () => {
    const documented = readFileSync(join(ROOT, 'docs/settings.md'), 'utf8');
    for (const { terminationGracePeriodSeconds, containers } of podsOf(render())) {
      const [{ env, command, resources }] = containers;
      for (const { name } of env.filter(({ name }) => name !== 'NODE_OPTIONS'))
        expect(documented).toContain(`\`${name}\``);
      if (terminationGracePeriodSeconds === undefined) {
        expect(command).toEqual(['node', 'dist/apps/cli/main.js', 'migrate']);
        continue;
      }
      const settings = readSettings({
        ...Object.fromEntries(env.map(({ name, value }) => [name, value])),
        ...{ DATABASE_URL: 'postgres://sluice@db/sluice', API_KEY_PEPPER: 'a pepper of 32 characters or more' },
      });
      expect(settings.management.host).toBe('0.0.0.0');
      // Five seconds are for load balancers.
      expect(terminationGracePeriodSeconds * 1_000).toBeGreaterThan(settings.shutdownGraceMs + 10_000);
      const heap = Number(
        /--max-old-space-size=(\d+)/.exec(env.find(({ name }) => name === 'NODE_OPTIONS')?.value ?? '')?.[1],
      );
      expect(Number.parseInt(resources.limits.memory)).toBeGreaterThanOrEqual(1.5 * heap);
    }
  });

  it.each([
    ['a value that does not exist', 'api.replica=3', 'replica is not allowed'],
    ['another case', 'networkpolicy.enabled=false', 'networkpolicy is not allowed'],
    ['a text for a number', 'worker.replicas=many', 'worker.replicas'],
    ['a setting in lower case', 'settings.max_connections=100', 'max_connections'],
    ['several values for a setting', 'settings.HANDLER={a,b}', 'settings.HANDLER'],
    ['a network with all its ports', 'networkPolicy.internal[0].cidr=10.0.0.0/8', 'ports is required'],
  ])('refuses %s', (_, set, reason) => {
    expect(() => render(set)).toThrow(reason);
  });

  /** Of each pod, what it gets of settings that are written like this in a file of values. */
  const environmentsOf = (settings: readonly string[]) => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-helm-'));
    try {
      const file = join(folder, 'values.yaml');
      writeFileSync(file, ['settings:', ...settings].join('\n  '));
      return podsOf(parse('--values', file)).map(({ containers: [{ env }] }) =>
        Object.fromEntries(env.map(({ name, value }) => [name, value])),
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
  };

  it.each([
    ['a whole number', '1048576', '1048576'],
    ['a large one', '10000000', '10000000'],
    ['a fraction', '1.5', '1.5'],
    ['a small one', '0.00001', '0.00001'],
    ['a switch', 'true', 'true'],
    ['a text with digits', '"0123"', '0123'],
    ['a list', '10.0.0.0/8,127.0.0.1', '10.0.0.0/8,127.0.0.1'],
    ['a list of numbers', '5,300', '5,300'],
  ])('passes a setting from a file of values on as it is written: %s', (_, written, value) => {
    expect(environmentsOf([`X: ${written}`]).map(({ X }) => X)).toEqual([value, value, value]);
  });

  it('passes on and off on as they are written, which YAML reads as true and false, to each setting that takes them', () => {
    const rows = readFileSync(join(ROOT, 'docs/settings.md'), 'utf8').matchAll(/^\| `(\w+)` .*`off`.*\|$/gm);
    // Of `npm start` only.
    const names = [...rows].map(([, name = '']) => name).filter((name) => name !== 'WORKER');
    expect(names).toContain('PORTAL');
    for (const written of ['on', 'off']) {
      const expected = Object.fromEntries(names.map((name) => [name, written]));
      for (const environment of environmentsOf(names.map((name) => `${name}: ${written}`)))
        expect(environment).toMatchObject(expected);
    }
  });

  it('gives a process as long to stop as SHUTDOWN_GRACE_MS needs, and needs no settings', () => {
    const graces = (...sets: string[]) =>
      podsOf(render(...sets)).flatMap(({ terminationGracePeriodSeconds = [] }) => terminationGracePeriodSeconds);
    expect(graces('settings=null', 'worker.settings.SHUTDOWN_GRACE_MS=600000')).toEqual([30, 620]);
  });

  it('lets no webhook reach a private address, other than what it is told', () => {
    const policies = render('networkPolicy.internal=null').filter(({ kind }) => kind === 'NetworkPolicy');
    expect(policies).toHaveLength(2);
    const addresses = [
      ...['10.1.2.3', '100.64.0.1', '127.0.0.1', '168.63.129.16', '169.254.169.254', '172.31.255.255', '192.0.0.8'],
      ...[
        '192.168.1.1',
        '198.18.0.1',
        '224.0.0.1',
        '255.255.255.255',
        '0.0.0.0',
        '::1',
        'fd00::1',
        'fe80::1',
        'ff02::1',
      ],
      ...[
        '::ffff:10.0.0.1',
        '64:ff9b::a00:1',
        '2002:a00:1::1',
        '2001::a00:1',
        '1.1.1.1',
        '172.32.0.1',
        '192.167.1.1',
        '2606:4700::1111',
      ],
    ];
    for (const { spec } of policies) {
      const blocks = spec.egress.flatMap(({ to = [] }) => to.map(({ ipBlock }) => ipBlock));
      const isIn = (address: string, cidr: string) => {
        const [parsed, range] = [ipaddr.parse(address), ipaddr.parseCIDR(cidr)];
        return parsed.kind() === range[0].kind() && parsed.match(range);
      };
      const isAllowed = (address: string) =>
        blocks.some(({ cidr, except = [] }) => isIn(address, cidr) && !except.some((other) => isIn(address, other)));
      for (const address of addresses) expect([address, isAllowed(address)]).toEqual([address, isPublic(address)]);
    }
  });
});
