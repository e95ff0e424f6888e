import { readTypeFilter } from './type-filter.js';

describe('readTypeFilter', () => {
  it.each(['order', 'order.paid', 'a.b.c.d.e.f', 'A-1_b', 'sluice.message.failed', 'x'.repeat(128)])(
    'reads %s as one type',
    (type) => {
      expect(readTypeFilter(type)).toEqual({ type });
    },
  );

  it.each([
    ['order.*', 'order.', 1],
    ['sluice.*', 'sluice.', 1],
    ['order.paid.*', 'order.paid.', 2],
    ['a.b.c.d.*', 'a.b.c.d.', 4],
    ['a.b.c.d.e.*', 'a.b.c.d.e.', 5],
    [`${'x'.repeat(126)}.*`, `${'x'.repeat(126)}.`, 1],
  ])('reads %s as all that begin with its words', (text, prefix, words) => {
    expect(readTypeFilter(text)).toEqual({ prefix, words });
  });

  it.each([
    ...[
      '',
      '*',
      '.*',
      'order*',
      'order.p*',
      '*.paid',
      'order.*.paid',
      'order.**',
      'order.*.',
      'order..*',
      'a.b.c.d.e*',
    ],
    ...[' order', 'order.paid ', 'order paid', 'order/paid', 'örder', 'order\n', 'order.*\n', '\u0000', 'order,paid'],
    ...['x'.repeat(129), `${'x'.repeat(127)}.*`, null, undefined, 17, ['order.paid'], { type: 'order' }],
  ])('refuses %j', (text) => {
    expect(readTypeFilter(text)).toBeNull();
  });
});
