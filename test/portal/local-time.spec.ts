import { chosenTime, localTime } from '../../apps/portal/text/local-time.js';

/** The offset of a zone, by its clocks. */
function offsetsOf(timeZone: string): (at: number) => number {
  const clock = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' });
  return (at) => {
    const name = clock.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? '';
    const [, sign = '+', hours = '0', minutes = '0'] = /^GMT(?:([+-])(\d\d):(\d\d))?$/.exec(name) ?? [];
    return (sign === '+' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
  };
}

const chosen = (zone: string, value: string, now = 0) => chosenTime(value, offsetsOf(zone), zone, now);

describe('A time that is chosen in the portal', () => {
  it.each([
    [
      'Europe/Berlin',
      '2026-11-21T09:30',
      '2026-11-21T08:30:00.000Z',
      '2026-11-21 08:30 UTC (UTC+01:00 in Europe/Berlin).',
    ],
    [
      'Europe/Berlin',
      '2026-07-01T00:15',
      '2026-06-30T22:15:00.000Z',
      '2026-06-30 22:15 UTC (UTC+02:00 in Europe/Berlin).',
    ],
    [
      'Europe/Berlin',
      '2026-03-29T01:59',
      '2026-03-29T00:59:00.000Z',
      '2026-03-29 00:59 UTC (UTC+01:00 in Europe/Berlin).',
    ],
    [
      'Europe/Berlin',
      '2026-03-29T03:00',
      '2026-03-29T01:00:00.000Z',
      '2026-03-29 01:00 UTC (UTC+02:00 in Europe/Berlin).',
    ],
    [
      'America/St_Johns',
      '2026-11-21T09:30',
      '2026-11-21T13:00:00.000Z',
      '2026-11-21 13:00 UTC (UTC−03:30 in America/St_Johns).',
    ],
    [
      'Asia/Kathmandu',
      '2026-11-21T09:30',
      '2026-11-21T03:45:00.000Z',
      '2026-11-21 03:45 UTC (UTC+05:45 in Asia/Kathmandu).',
    ],
    ['UTC', '2026-11-21T09:30', '2026-11-21T09:30:00.000Z', '2026-11-21 09:30 UTC (UTC+00:00 in UTC).'],
  ])('in %s, %s is %s', (zone, value, at, note) => {
    expect(chosen(zone, value)).toEqual({ at: new Date(at), note });
  });

  it.each(['20261-11-29T09:30', '202611-11-29T09:30', 'x', ''])('says that %s is none', (value) => {
    expect(chosen('Europe/Berlin', value)).toEqual({ problem: 'This is no time: a year has four digits.' });
  });

  it.each([
    ['Europe/Berlin', '2026-10-25T02:30', '2026-10-25T00:30:00.000Z', 'UTC+02:00'],
    ['America/New_York', '2026-11-01T01:30', '2026-11-01T05:30:00.000Z', 'UTC−04:00'],
    ['Australia/Lord_Howe', '2026-04-05T01:45', '2026-04-04T14:45:00.000Z', 'UTC+11:00'],
  ])('in %s, %s exists twice: the first one is meant', (zone, value, at, offset) => {
    const { at: instant, note } = chosen(zone, value);
    expect(instant).toEqual(new Date(at));
    expect(note).toMatch(/^This time exists twice, because clocks are changed\. The first one is meant: /);
    expect(note).toContain(offset);
  });

  it.each([
    ['Europe/Berlin', '2026-10-25T02:30', '2026-10-25T00:29:59.999Z', '2026-10-25T00:30:00.000Z', 'UTC+02:00'],
    ['Europe/Berlin', '2026-10-25T02:30', '2026-10-25T00:30:00.000Z', '2026-10-25T00:30:00.000Z', 'UTC+02:00'],
    ['Europe/Berlin', '2026-10-25T02:30', '2026-10-25T00:30:00.001Z', '2026-10-25T01:30:00.000Z', 'UTC+01:00'],
    ['Europe/Berlin', '2026-10-25T02:30', '2026-10-25T01:10:00.000Z', '2026-10-25T01:30:00.000Z', 'UTC+01:00'],
    ['Europe/Berlin', '2026-10-25T02:30', '2026-10-25T02:00:00.000Z', '2026-10-25T01:30:00.000Z', 'UTC+01:00'],
    ['America/New_York', '2026-11-01T01:30', '2026-11-01T06:00:00.000Z', '2026-11-01T06:30:00.000Z', 'UTC−05:00'],
    ['Australia/Lord_Howe', '2026-04-05T01:45', '2026-04-04T15:00:00.000Z', '2026-04-04T15:15:00.000Z', 'UTC+10:30'],
    ['Europe/Berlin', '2026-10-25T03:00', '2026-10-25T03:00:00.000Z', '2026-10-25T02:00:00.000Z', 'UTC+01:00'],
  ])('in %s, %s is at %s the one at %s', (zone, value, now, at, offset) => {
    const { at: instant, note = '' } = chosen(zone, value, Date.parse(now));
    expect(instant).toEqual(new Date(at));
    expect(note).toContain(offset);
    expect(note.includes('The first one is past, and the second one is meant')).toBe(
      value !== '2026-10-25T03:00' && !at.startsWith('2026-10-25T00'),
    );
  });

  it.each([
    ['Europe/Berlin', '2026-03-29T02:30'],
    ['America/New_York', '2026-03-08T02:00'],
    ['Australia/Lord_Howe', '2026-10-04T02:15'],
  ])('in %s, %s does not exist', (zone, value) => {
    expect(chosen(zone, value)).toEqual({ problem: `This time does not exist in ${zone}: clocks are changed then.` });
  });

  it('is shown by the control', () => {
    const { at } = chosenTime('2026-11-21T09:30');
    expect(localTime(at?.getTime() ?? 0)).toBe('2026-11-21T09:30');
  });
});
