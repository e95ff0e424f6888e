/** How times are written for readers whose browsers name their languages in all ways. */

describe('Times', () => {
  it.each([
    [['en-US@posix'], /Nov/],
    [['c', 'de-DE'], /21\.11\.2026/],
    [['', '_'], /2026/],
    [[], /2026/],
    [['ar-EG'], /٢٠٢٦/],
  ])('are written for %j', async (languages, written) => {
    jest.resetModules();
    Object.defineProperty(globalThis, 'navigator', { value: { languages }, configurable: true });
    const { formatDate } = await import('./format.js');
    expect(formatDate('2026-11-21T12:00:00Z')).toMatch(written);
  });
});

describe('Hours', () => {
  const { DateTimeFormat } = Intl;
  afterEach(() => {
    Intl.DateTimeFormat = DateTimeFormat;
  });

  const formatIn = async (timeZone: string) => {
    jest.resetModules();
    Object.defineProperty(globalThis, 'navigator', { value: { languages: ['en-US'] }, configurable: true });
    Intl.DateTimeFormat = function format(languages?: string, options?: Intl.DateTimeFormatOptions) {
      return new DateTimeFormat(languages, { timeZone, ...options });
    } as typeof DateTimeFormat;
    return (await import('./format.js')).formatHour;
  };

  it.each([
    ['New York', 'America/New_York', '2026-11-01T04:00:00Z', ['12:00 AM', '1:00 AM EDT', '1:00 AM EST', '2:00 AM']],
    ['London', 'Europe/London', '2026-10-24T23:00:00Z', ['12:00 AM', '1:00 AM GMT+1', '1:00 AM GMT', '2:00 AM']],
    ['no summer time', 'Asia/Kolkata', '2026-11-01T04:00:00Z', ['9:30 AM', '10:30 AM', '11:30 AM', '12:30 PM']],
  ])('are told apart when clocks are set back: %s', async (_where, zone, first, expected) => {
    const formatHour = await formatIn(zone);
    const hours = expected.map((_hour, index) =>
      formatHour(new Date(Date.parse(first) + index * 3_600_000).toISOString()),
    );
    expect(hours.map((hour) => hour.replace(/^.*, /, '').replace(/\s/g, ' '))).toEqual(expected);
  });
});
