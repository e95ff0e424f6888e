import { readSettings } from '../../apps/settings.js';
import { pagePaths, readPage } from './page.js';

interface Row {
  readonly name: string;
  readonly defaultValue: string;
  readonly range: string;
}

const REQUIRED = { DATABASE_URL: 'postgres://127.0.0.1/sluice', API_KEY_PEPPER: 'a pepper of 32 characters or more' };
/** Settings outside of `readSettings`: of the worker and of `npm start`. */
const OTHERS = ['HANDLER', 'DATA_DIR', 'WORKER'];

/** The names that the program reads. */
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
  return [...names, ...OTHERS].sort();
}

function rowsOf(path: string): Row[] {
  const lines = readPage(path).text.split('\n');
  const cells = lines.map((line) => line.split('|').map((cell) => cell.trim()));
  return cells.flatMap(([, name = '', defaultValue = '', , range = '']) => {
    const setting = /^`([A-Z_]+)`$/.exec(name)?.[1];
    return setting === undefined ? [] : [{ name: setting, defaultValue, range }];
  });
}

function settingsWith(name: string, value: string): unknown {
  return readSettings({ ...REQUIRED, [name]: value });
}

describe('docs/settings.md', () => {
  const rows = rowsOf('docs/settings.md');
  const ranges = rows.flatMap(({ name, range }) => {
    const [, min, max] = /^([\d,]+) to ([\d,]+)$/.exec(range) ?? [];
    return min === undefined || max === undefined ? [] : [{ name, min: numberIn(min), max: numberIn(max) }];
  });

  it('lists exactly the settings that exist', () => {
    expect(rows.map(({ name }) => name).sort()).toEqual(namesRead());
  });

  it('states the real defaults', () => {
    const documented = rows.filter(({ name, defaultValue }) => !OTHERS.includes(name) && !/^none\b/.test(defaultValue));
    expect(documented.length).toBeGreaterThan(10);
    for (const { name, defaultValue } of documented) {
      const value = /^[\d,]+$/.test(defaultValue) ? String(numberIn(defaultValue)) : defaultValue.replaceAll('`', '');
      expect({ name, settings: settingsWith(name, value) }).toEqual({ name, settings: readSettings(REQUIRED) });
    }
  });

  it('states the real ranges', () => {
    expect(ranges.length).toBeGreaterThan(10);
    for (const { name, min, max } of ranges) {
      for (const good of [min, max]) expect(() => settingsWith(name, String(good))).not.toThrow();
      for (const bad of [min - 1, max + 1]) expect(() => settingsWith(name, String(bad))).toThrow(name);
    }
  });
});

describe('Other pages', () => {
  it('name existing settings only', () => {
    const known = namesRead();
    const unknown = pagePaths().flatMap((path) => {
      const { text, blocks } = readPage(path);
      const code = blocks.map((block) => block.text).join('\n');
      const named = [...text.matchAll(/`([A-Z]+(?:_[A-Z]+)+)(?:=[^`]*)?`/g)].map(([, name = '']) => name);
      return (
        named
          .filter(
            (name) => !known.includes(name) && !/^(OTEL|PG|POSTGRES|SLUICE|NODE)_|^(HTTPS?|ALL|NO)_PROXY$/.test(name),
          )
          // The programs of a page may have settings of their own.
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
