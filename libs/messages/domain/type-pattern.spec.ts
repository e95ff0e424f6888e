import { isTypePattern, matchesType } from './type-pattern.js';

describe('isTypePattern', () => {
  it.each(['order', 'order.paid', 'order.*', 'order.paid.*', '*', 'a_b-C.9', `${'a'.repeat(126)}.*`, 'sluice.*'])(
    'accepts %s',
    (text) => {
      expect(isTypePattern(text)).toBe(true);
    },
  );

  it.each([
    ...['', '.', '.*', '*.*', '*.paid', 'order*', 'order.p*', 'order.*.eu', 'order.', '.order', 'order..*', 'order.**'],
    ...['order paid', 'order.päid', 'order.*\n', `${'a'.repeat(127)}.*`, 'a'.repeat(129), '%', 'order.paid,order.*'],
  ])('refuses %j', (text) => {
    expect(isTypePattern(text)).toBe(false);
  });
});

describe('matchesType', () => {
  it.each([
    [
      ['order.*'],
      ['order.paid', 'order.paid.eu', 'order._', 'order.-'],
      ['order', 'orders', 'orders.paid', 'Order.paid'],
    ],
    [['order.paid'], ['order.paid'], ['order', 'order.paid.eu', 'order.paid2', 'order_paid']],
    [['order.paid.*'], ['order.paid.eu'], ['order.paid', 'order.paids.eu', 'order']],
    [
      ['a', 'b.*'],
      ['a', 'b.c'],
      ['b', 'c', 'a.b'],
    ],
    [['*'], [null, 'order', 'order.paid', 'sluices.x'], ['sluice.message.failed', 'sluice']],
    [[], [null, 'order', 'order.paid'], ['sluice.message.failed']],
    [['order.*', '*'], [null, 'user.new'], ['sluice.message.failed']],
    [['sluice.*'], ['sluice.message.failed', 'sluice.endpoint.disabled'], [null, 'order', 'sluice', 'sluices.x']],
    [['sluice.message.failed'], ['sluice.message.failed'], [null, 'sluice.endpoint.disabled', 'sluice.message']],
    [['*', 'sluice.message.*'], [null, 'order', 'sluice.message.failed'], ['sluice.endpoint.disabled']],
  ])('by %j', (patterns, matched, others) => {
    for (const type of matched) expect([type, matchesType(patterns, type)]).toEqual([type, true]);
    for (const type of others) expect([type, matchesType(patterns, type)]).toEqual([type, false]);
  });
});
