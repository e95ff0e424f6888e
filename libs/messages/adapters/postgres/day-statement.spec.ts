import { UuidV7Ids } from '#kernel/ids.js';
import { DayStatement } from './day-statement.js';

const ids = new UuidV7Ids();
const idAt = (time: string) => ids.next('msg', new Date(time));
const NOW = '2026-11-27T12:00:00Z';

describe('DayStatement', () => {
  const statement = new DayStatement(
    'find',
    (isOfDay) => `SELECT FROM messages m WHERE m.id = ANY ($1)${isOfDay('m.id')}`,
  );
  const nameFor = (times: readonly string[], now = NOW) => statement.for(times.map(idAt), Date.parse(now)).name;

  it.each<[string, string[], string]>([
    ['today', ['2026-11-27T00:00:00.000Z', '2026-11-27T23:59:59.999Z'], 'find 2026-11-27'],
    ['yesterday', ['2026-11-26T00:00:00.000Z', '2026-11-26T23:59:59.999Z'], 'find 2026-11-26'],
    ['both', ['2026-11-26T23:59:59.999Z', '2026-11-27T00:00:00.000Z'], 'find'],
    ['a day before', ['2026-11-25T23:59:59.999Z'], 'find'],
    ['tomorrow', ['2026-11-28T00:00:00.000Z'], 'find'],
    ['another time than the first of them', [NOW, NOW, '2026-01-01T00:00:00Z'], 'find'],
  ])('knows messages of %s', (_, times, expected) => {
    expect(nameFor(times)).toBe(expected);
  });

  it('goes on with the next day', () => {
    const times = ['2026-11-28T08:00:00Z'];
    expect(['27', '28', '29', '30'].map((day) => nameFor(times, `2026-11-${day}T08:00:00Z`))).toEqual([
      ...['find', 'find 2026-11-28', 'find 2026-11-28', 'find'],
    ]);
  });

  it('has the same text for one name, with the condition in it, and none for any day', () => {
    const [today, again, any] = [[idAt(NOW)], [idAt(NOW)], [idAt(NOW), idAt('2026-01-01T00:00:00Z')]].map((all) =>
      statement.for(all, Date.parse(NOW)),
    );
    expect(again).toEqual(today);
    expect(today?.text).toMatch(
      /ANY \(\$1\) AND m\.id COLLATE "POSIX" >= 'msg_\w{26}' AND m\.id COLLATE "POSIX" < 'msg_\w{26}'$/,
    );
    expect(any?.text).toBe('SELECT FROM messages m WHERE m.id = ANY ($1)');
  });
});
