import { orderingKeyError } from './ordering-key.js';

describe('orderingKeyError', () => {
  it.each(['a', '!', '~', 'customer/17#x', '{"a":1}', 'x'.repeat(128)])('accepts %s', (key) => {
    expect(orderingKeyError(key)).toBeNull();
  });

  it.each(['', ' ', 'a b', 'a\n', 'a\t', '\u0000', '\u007f', 'ä', '💌', 'x'.repeat(129)])('refuses %j', (key) => {
    expect(orderingKeyError(key)).toBe('orderingKey must be 1 to 128 visible ASCII characters.');
  });
});
