import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { Fleet } from '../support/fleet.js';
import { metricsOf } from '../support/metrics.js';
import { ROOT } from '../support/processes.js';
import { readPage } from './page.js';

interface Rules {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[];
}

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const rules = (parse(read('docs/prometheus/alerts.yml')) as Rules).groups.flatMap((group) => group.rules);
const { panels } = JSON.parse(read('docs/grafana/sluice.json')) as { panels: readonly Panel[] };
const page = readPage('docs/operations.md').text;

const METRIC = /\b(?:sluice|nodejs|process)_[a-z0-9_]+/g;
/** `status` depends on the requests made; `job` is added by Prometheus. */
const ANY_VALUE = ['status', 'job'];

describe('Metrics and alerts', () => {
  let fleet: Fleet;
  /** The samples of an API and a worker, such as `name{label="value"}`. */
  let samples: readonly string[];
  let namesByProcess: readonly (readonly string[])[];

  beforeAll(async () => {
    fleet = await Fleet.start();
    const worker = await fleet.worker({}, 'dist/apps/worker/main.js');
    await fleet.send('hello');
    const metrics = await Promise.all([fleet.client.managementUrl, await worker.managementUrl()].map(metricsOf));
    samples = metrics.flatMap((values) => [...values.keys()]);
    namesByProcess = metrics.map((values) => [...values.keys()].map((sample) => sample.replace(/{.*/, '')));
  });
  afterAll(() => fleet.stop());

  const expressions = [
    ...rules.map(({ alert, expr }) => [alert, expr] as const),
    ...panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr] as const)),
  ];

  it.each(expressions)('query existing metrics and labels only: %s', (_name, expression) => {
    for (const [name] of expression.matchAll(METRIC)) expect(namesByProcess.flat()).toContain(name);
    for (const [, name = '', selectors = ''] of expression.matchAll(/(\w+)\{([^}]*)\}/g)) {
      for (const [, label = '', operator, value = ''] of selectors.matchAll(/(\w+)(=~?)"([^"]*)"/g)) {
        if (ANY_VALUE.includes(label)) continue;
        const found = samples.filter((sample) => sample.startsWith(`${name}{`)).join('\n');
        for (const one of operator === '=' ? [value] : value.split('|')) expect(found).toContain(`${label}="${one}"`);
      }
    }
  });

  const storedData = (/^### Stored data$(.*?)^### /ms.exec(page)?.[1] ?? '').matchAll(/^\| `(sluice_\w+)`/gm);
  it.each([...storedData].map(([, name = '']) => name))(
    'of stored data come from each process, so that their alerts fire while the others are gone: %s',
    (name) => {
      for (const names of namesByProcess) expect(names).toContain(name);
    },
  );

  it('are documented: every metric with its labels', () => {
    const documented = [...page.matchAll(/^\| `(sluice_\w+)` +\| \w+ +\|([^|]*)\|/gm)].map(
      ([, name = '', labels = '']) => `${name} ${[...labels.matchAll(/\w+/g)].sort().join(' ')}`.trim(),
    );
    const families = samples
      .filter((sample) => sample.startsWith('sluice_'))
      .map((sample) => {
        const [name = '', ...labels] = sample.match(/^\w+|\w+(?==")/g) ?? [];
        const family = name.replace(/_(bucket|sum|count)$/, '');
        return [family, ...labels.filter((label) => label !== 'le').sort()].join(' ');
      });
    expect(documented.sort()).toEqual([...new Set(families)].sort());
  });

  it('are documented: every alert', () => {
    const documented = [...page.matchAll(/^\| `(Sluice\w+)` /gm)].map(([, name = '']) => name);
    expect(documented).toEqual(rules.map(({ alert }) => alert));
  });
});
