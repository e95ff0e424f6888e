import { execFileSync } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import { ROOT } from '../support/processes.js';

const TABLE = [
  ['Europe/Berlin', '2026-11-21', '2026-11-20T23:00:00.000Z'],
  ['Europe/Berlin', '2026-11-21T09:30', '2026-11-21T08:30:00.000Z'],
  ['Europe/Berlin', '2026-07-01 09:30:15', '2026-07-01T07:30:15.000Z'],
  ['Europe/Berlin', '2026-03-29T01:59:59.999', '2026-03-29T00:59:59.999Z'],
  ['Europe/Berlin', '2026-03-29T02:00', 'does not exist in Europe/Berlin'],
  ['Europe/Berlin', '2026-03-29T02:59', 'does not exist in Europe/Berlin'],
  ['Europe/Berlin', '2026-03-29T03:00', '2026-03-29T01:00:00.000Z'],
  ['Europe/Berlin', '2026-03-29T02:30:00+01:00', '2026-03-29T01:30:00.000Z'],
  ['Europe/Berlin', '2026-10-25T01:59', '2026-10-24T23:59:00.000Z'],
  ['Europe/Berlin', '2026-10-25T02:00', 'exists twice in Europe/Berlin'],
  ['Europe/Berlin', '2026-10-25T02:59', 'exists twice in Europe/Berlin'],
  ['Europe/Berlin', '2026-10-25T03:00', '2026-10-25T02:00:00.000Z'],
  ['America/New_York', '2026-11-01T01:30', 'exists twice'],
  ['America/New_York', '2026-11-21', '2026-11-21T05:00:00.000Z'],
  ['Asia/Kolkata', '2026-11-21T09:30', '2026-11-21T04:00:00.000Z'],
  ['Australia/Lord_Howe', '2026-10-04T02:15', 'does not exist'],
  ['Australia/Lord_Howe', '2026-04-05T01:45', 'exists twice'],
  ['Africa/Cairo', '2026-04-24', 'does not exist'],
  ['Pacific/Apia', '2011-12-30T12:00', 'does not exist'],
  ['UTC', '2026-11-21', '2026-11-21T00:00:00.000Z'],
  ['', '2026-11-21', '2026-11-21T00:00:00.000Z'],
  ['EST5EDT', '2026-11-21', '2026-11-21T05:00:00.000Z'],
  [':America/New_York', '2026-11-21', '2026-11-21T05:00:00.000Z'],
  ['posix/Europe/Berlin', '2026-07-01T09:30', '2026-07-01T07:30:00.000Z'],
  ['Nowhere/Bad', '2026-11-21T09:30', 'TZ is Nowhere/Bad'],
  ['Nowhere/Bad', '2026-11-21T09:30Z', '2026-11-21T09:30:00.000Z'],
  ['europe/berlin', '2026-11-21T09:30', 'TZ is europe/berlin'],
  ['CET-1CEST', '2026-07-01T09:30', 'TZ is CET-1CEST'],
  ['<+03>-3', '2026-11-21T09:30', 'TZ is <+03>-3'],
  ['EST+5EDT,M3.2.0/2,M11.1.0/2', '2026-11-21T09:30', 'TZ is EST+5EDT,M3.2.0/2,M11.1.0/2'],
  ['/usr/share/zoneinfo/Europe/Berlin', '2026-07-01T09:30', 'TZ is /usr/share/zoneinfo/Europe/Berlin'],
  [':/etc/localtime', '2026-07-01T09:30', 'TZ is :/etc/localtime'],
  ['Europe/Berlin ', '2026-11-21T09:30', 'TZ is Europe/Berlin '],
] as const;

/** Jest has the time zone of its process: another one reads all of them. */
function readAll(): string[] {
  const script = `
    const { instant } = await import(process.argv[1]);
    const read = ([zone, text]) => {
      process.env.TZ = zone;
      try { return instant(text); } catch (error) { return error.message; }
    };
    console.log(JSON.stringify(JSON.parse(process.argv[2]).map(read)));`;
  const module = pathToFileURL(join(ROOT, 'dist/apps/cli/input/times.js')).href;
  const args = ['--input-type=module', '-e', script, module, JSON.stringify(TABLE)];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as string[];
}

describe('A local time that is typed', () => {
  let results: string[];
  beforeAll(() => {
    results = readAll();
  });

  it.each(TABLE.map(([zone, text, expected], at) => ({ at, zone, text, expected })))(
    'in $zone, $text: $expected',
    ({ at, expected }) => {
      expect(results[at]).toContain(expected);
    },
  );
});
