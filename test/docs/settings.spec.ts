import { readSettings } from '#platform/settings.js';
import { pagePaths, readPage } from './page.js';

interface Row {
  readonly name: string;
  readonly fallback: string;
  readonly takes: string;
}

const REQUIRED = { DATABASE_URL: 'postgres://127.0.0.1/sluice', API_KEY_PEPPER: 'a pepper of 32 characters or more' };
/** What programs read beside the settings that all processes have: the worker its handler, `npm start` the others. */
const BESIDE = ['HANDLER', 'DATA_DIR', 'WORKER'];

/** The names that the program looks for. */
function namesRead(): string[] {
  const names = new Set<string>();
  const env = new Proxy<Record<string, string | undefined>>(REQUIRED, {
    get(target, name) {
      if (typeof name !== 'string') return undefined;
      names.add(name);
      return target[name];
    },
  });
  readSettings(env);
  return [...names, ...BESIDE].sort();
}

function rowsOf(path: string): Row[] {
  const lines = readPage(path).text.split('\n');
  const cells = lines.map((line) => line.split('|').map((cell) => cell.trim()));
  return cells.flatMap(([, name = '', fallback = '', , takes = '']) => {
    const setting = /^`([A-Z_]+)`$/.exec(name)?.[1];
    return setting === undefined ? [] : [{ name: setting, fallback, takes }];
  });
}

function settingsWith(name: string, value: string): unknown {
  return readSettings({ ...REQUIRED, [name]: value });
}

describe('docs/settings.md', () => {
  const rows = rowsOf('docs/settings.md');
  const ranges = rows.flatMap(({ name, takes }) => {
    const [, min, max] = /^([\d,]+) to ([\d,]+)$/.exec(takes) ?? [];
    return min === undefined || max === undefined ? [] : [{ name, min: numberIn(min), max: numberIn(max) }];
  });

  it('has every setting, and no other', () => {
    expect(rows.map(({ name }) => name).sort()).toEqual(namesRead());
  });

  it('tells the defaults', () => {
    const told = rows.filter(({ name, fallback }) => !BESIDE.includes(name) && !/^none\b/.test(fallback));
    expect(told.length).toBeGreaterThan(10);
    for (const { name, fallback } of told) {
      const value = /^[\d,]+$/.test(fallback) ? String(numberIn(fallback)) : fallback.replaceAll('`', '');
      expect({ name, settings: settingsWith(name, value) }).toEqual({ name, settings: readSettings(REQUIRED) });
    }
  });

  it('tells the ranges', () => {
    expect(ranges.length).toBeGreaterThan(10);
    for (const { name, min, max } of ranges) {
      for (const good of [min, max]) expect(() => settingsWith(name, String(good))).not.toThrow();
      for (const bad of [min - 1, max + 1]) expect(() => settingsWith(name, String(bad))).toThrow(name);
    }
  });
});

describe('Other pages', () => {
  it('speak of settings that there are', () => {
    const known = namesRead();
    const unknown = pagePaths().flatMap((path) => {
      const { text, blocks } = readPage(path);
      const code = blocks.map((block) => block.text).join('\n');
      const named = [...text.matchAll(/`([A-Z]+(?:_[A-Z]+)+)(?:=[^`]*)?`/g)].map(([, name = '']) => name);
      return (
        named
          .filter((name) => !known.includes(name) && !/^(OTEL|PG|POSTGRES|SLUICE)_/.test(name))
          // A page's own programs and commands may have settings of their own.
          .filter((name) => !code.includes(name))
          .map((name) => `${path}: ${name}`)
      );
    });
    expect(unknown).toEqual([]);
  });
});

function numberIn(text: string): number {
  return Number(text.replaceAll(',', ''));
}
