import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { TestApi } from '../support/api.js';
import { metricsOf } from '../support/metrics.js';
import { Program, ROOT } from '../support/processes.js';
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

/** The metrics of an API and a worker: their names, with the values of each label. */
async function samples(): Promise<Map<string, Map<string, Set<string>>>> {
  const api = await new TestApi().start();
  const worker = Program.run('dist/apps/worker/main.js', { ...api.environment, LOG_LEVEL: 'info' });
  const metrics = new Map<string, Map<string, Set<string>>>();
  try {
    await worker.printed('consuming');
    await api.sent(await api.signUp());
    for (const url of [api.managementUrl, worker.address('management')]) {
      for (const sample of (await metricsOf(url)).keys()) {
        const [name = '', labels = ''] = sample.replace(/\}$/, '').split('{');
        const known = metrics.get(name) ?? new Map<string, Set<string>>();
        metrics.set(name, known);
        for (const [, label = '', value = ''] of labels.matchAll(/(\w+)="([^"]*)"/g)) {
          known.set(label, (known.get(label) ?? new Set()).add(value));
        }
      }
    }
  } finally {
    worker.signal('SIGKILL');
    await worker.ended();
    await api.stop();
  }
  return metrics;
}

const METRIC = /\b(?:sluice|nodejs|process)_[a-z0-9_]+/g;
/** `status` depends on the requests made; `job` is added by Prometheus. */
const ANY_VALUE = ['status', 'job'];

describe('Metrics and alerts', () => {
  let metrics: Awaited<ReturnType<typeof samples>>;

  beforeAll(async () => {
    metrics = await samples();
  }, 60_000);

  const expressions = [
    ...rules.map(({ alert, expr }) => [alert, expr] as const),
    ...panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr] as const)),
  ];

  it.each(expressions)('query existing metrics and labels only: %s', (_name, expression) => {
    for (const [name] of expression.matchAll(METRIC)) expect([...metrics.keys()]).toContain(name);
    for (const [, name = '', selectors = ''] of expression.matchAll(/(\w+)\{([^}]*)\}/g)) {
      for (const [, label = '', operator, value = ''] of selectors.matchAll(/(\w+)(=~?)"([^"]*)"/g)) {
        if (ANY_VALUE.includes(label)) continue;
        const values = operator === '=' ? [value] : value.split('|');
        expect([...(metrics.get(name)?.get(label) ?? [])]).toEqual(expect.arrayContaining(values));
      }
    }
  });

  it('are documented: every metric with its labels', () => {
    const documented = [...page.matchAll(/^\| `(sluice_\w+)` +\| \w+ +\|([^|]*)\|/gm)].map(
      ([, name = '', labels = '']) => `${name} ${[...labels.matchAll(/\w+/g)].sort().join(' ')}`.trim(),
    );
    const families = new Set(
      [...metrics].flatMap(([name, labels]) => {
        if (!name.startsWith('sluice_')) return [];
        const family = name.replace(/_(bucket|sum|count)$/, '');
        return [
          `${family} ${[...labels.keys()]
            .filter((label) => label !== 'le')
            .sort()
            .join(' ')}`.trim(),
        ];
      }),
    );
    expect(documented.sort()).toEqual([...families].sort());
  });

  it('are documented: every alert', () => {
    const documented = [...page.matchAll(/^\| `(Sluice\w+)` /gm)].map(([, name = '']) => name);
    expect(documented).toEqual(rules.map(({ alert }) => alert));
  });
});
