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
