import { AddressBudget } from './address-budget.js';

const LIMIT = 3;

describe('AddressBudget', () => {
  let budget: AddressBudget;
  let now: number;

  beforeEach(() => {
    now = 1_000_000;
    jest.spyOn(performance, 'now').mockImplementation(() => now);
    budget = new AddressBudget('minute', LIMIT, 60);
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });

  const takeAll = (address: string, count = LIMIT + 1) =>
    Array.from({ length: count }, () => budget.take(address).passes);
  const remaining = (address: string) => budget.peek(address).remaining;

  it('lets as many pass as its limit in a window, and counts no more than those', () => {
    expect(takeAll('192.0.2.1')).toEqual([true, true, true, false]);
    expect(remaining('192.0.2.1')).toBe(0);
  });

  it('returns its window, which starts anew when it has ended', () => {
    expect(budget.take('192.0.2.1')).toEqual({
      passes: true,
      window: { name: 'minute', windowSeconds: 60, limit: 3, remaining: 2, resetsAt: now + 60_000 },
    });
    now += 59_999;
    expect(budget.take('192.0.2.1').window).toMatchObject({ remaining: 1, resetsAt: now + 1 });
    expect(takeAll('192.0.2.1', 2)).toEqual([true, false]);
    now += 1;
    expect(budget.take('192.0.2.1')).toMatchObject({ passes: true, window: { remaining: 2, resetsAt: now + 60_000 } });
  });

  it('gives back, but never more than was taken', () => {
    budget.take('192.0.2.1');
    budget.giveBack('192.0.2.1');
    budget.giveBack('192.0.2.1');
    expect(remaining('192.0.2.1')).toBe(LIMIT);
  });

  it.each([
    ['two addresses of IPv4', '192.0.2.1', '192.0.2.2'],
    ['two networks of IPv6', '2001:db8:0:1::1', '2001:db8:0:2::1'],
    ['networks that differ in their 64th bit', '2001:db8:0:10::1', '2001:db8:0:11::1'],
    ['an address of IPv4 and one of IPv6 that looks like it', '192.0.2.1', '2001:db8::192.0.2.1'],
    ['two addresses of IPv4 in the form of IPv6', '::ffff:192.0.2.1', '::ffff:192.0.2.2'],
  ])('keeps %s apart', (_name, one, other) => {
    takeAll(one);
    expect(remaining(other)).toBe(LIMIT);
  });

  it.each([
    ['a network of IPv6', '2001:db8:0:1::1', '2001:db8:0:1:ffff:ffff:ffff:ffff'],
    ['one address in two spellings', '2001:db8:0:1::1', '2001:0DB8:0000:0001:0:0:0:1'],
    ['an address of IPv4 and the same in the form of IPv6', '192.0.2.1', '::ffff:192.0.2.1'],
    ['an address with and without its zone', 'fe80::1', 'fe80::1%eth0'],
  ])('counts %s as one', (_name, one, other) => {
    takeAll(one);
    expect(remaining(other)).toBe(0);
  });

  it('gives a /48 of IPv6 ten times the budget of one of its networks', () => {
    const networks = Array.from({ length: 12 }, (_, index) => `2001:db8:0:${index + 1}::1`);
    expect(networks.map((address) => takeAll(address, LIMIT).filter(Boolean).length)).toEqual([
      ...Array<number>(10).fill(LIMIT),
      ...[0, 0],
    ]);
    expect([remaining('2001:db8:0:ff::1'), remaining('2001:db8:1:1::1')]).toEqual([0, LIMIT]);
  });

  it.each(['', 'unknown'])('counts %j, which is no address, as one', (address) => {
    expect(takeAll(address)).toEqual([true, true, true, false]);
  });

  it('remembers at most 100,000 addresses, and evicts the oldest first', () => {
    const address = (index: number) => `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`;
    takeAll(address(0));
    takeAll(address(1));
    for (let index = 2; index < 100_000; index++) budget.take(address(index));
    expect([remaining(address(0)), remaining(address(1))]).toEqual([0, 0]);
    for (let index = 100_000; index < 199_998; index++) budget.take(address(index));
    expect([remaining(address(0)), remaining(address(1)), remaining(address(2))]).toEqual([0, 0, LIMIT]);
  });
});
