import { messageTypeError } from './message-type.js';

describe('messageTypeError', () => {
  it.each([
    'order',
    'order.paid',
    'a.b.c',
    '_',
    '-',
    'A-1_b.9',
    'x'.repeat(128),
    'sluices',
    'Sluice.x',
    'order.sluice',
  ])('accepts %s', (type) => {
    expect(messageTypeError(type)).toBeNull();
  });

  it.each(['', '.', 'a.', '.a', 'a..b', 'a b', 'a\n', 'ä', 'order.*', '*', 'a/b', 'x'.repeat(129)])(
    'refuses %j',
    (type) => {
      expect(messageTypeError(type)).toMatch('type must be words of letters, digits, _ and - joined by dots');
    },
  );

  it.each(['sluice', 'sluice.message.failed'])('refuses %s, which only Sluice sends', (type) => {
    expect(messageTypeError(type)).toBe('type must not begin with sluice: it is reserved.');
  });
});
