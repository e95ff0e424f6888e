import type { IncomingMessage } from 'node:http';
import { canonicalAddress, networkOf, TrustedProxies } from './client-address.js';

const PROXY = '10.0.0.1';
const CLIENT = '203.0.113.7';

describe('An address', () => {
  it.each([
    [CLIENT, CLIENT, CLIENT],
    ['::ffff:203.0.113.7', CLIENT, CLIENT],
    ['::FFFF:CB00:7107', CLIENT, CLIENT],
    ['0:0:0:0:0:ffff:203.0.113.7', CLIENT, CLIENT],
    ['2001:DB8:0:0:0:0:0:1', '2001:db8::1', '2001:db8::/64'],
    ['2001:0db8:0001:0002:0003:0004:0005:0006', '2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8::203.0.113.7', '2001:db8::cb00:7107', '2001:db8::/64'],
    ['fe80::1%eth0', 'fe80::1', 'fe80::/64'],
    ['::1', '::1', '::/64'],
  ])('%s has one form, %s, and belongs to %s', (text, canonical, network) => {
    expect(canonicalAddress(text)).toBe(canonical);
    expect(networkOf(text)).toBe(network);
  });

  it.each(['', 'unknown', '203.0.113', '203.0.113.007', '203.0.113.7 ', '1', '::g', 'localhost', '2001:db8::1/64'])(
    'is not %j',
    (text) => {
      expect(canonicalAddress(text)).toBeNull();
    },
  );
});

describe('The address of a client', () => {
  const clientOf = (forwardedFor: string | undefined, from = PROXY, trusted = [PROXY]) =>
    new TrustedProxies(trusted).clientOf({
      socket: { remoteAddress: from } as IncomingMessage['socket'],
      headers: forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor },
    });

  it.each([
    [CLIENT, CLIENT],
    ['203.0.113.7:51234', CLIENT],
    ['203.0.113.7:', CLIENT],
    ['"203.0.113.7:51234"', CLIENT],
    ['"203.0.113.7"', CLIENT],
    [' \t 203.0.113.7 \t', CLIENT],
    ['[203.0.113.7]', CLIENT],
    ['::ffff:203.0.113.7', CLIENT],
    ['[::FFFF:203.0.113.7]:443', CLIENT],
    ['::ffff:cb00:7107', CLIENT],
    ['2001:db8::1', '2001:db8::1'],
    ['2001:DB8:0:0::1', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['"[2001:DB8::1]:443"', '2001:db8::1'],
    ['2001:db8::1%eth0', '2001:db8::1'],
    ['[2001:db8::1%25eth0]:443', '2001:db8::1'],
  ])('is read from %j as %s', (item, address) => {
    expect(clientOf(item)).toBe(address);
  });

  it.each([
    ...[
      'unknown',
      '_hidden',
      '"_hidden"',
      'client.example',
      'localhost',
      '203.0.113.007',
      '203.0.113',
      '203.0.113.7.9',
    ],
    ...[
      '0xcb.0.113.7',
      '3405803783',
      '203.0.113.7:port',
      '203.0.113.7;51234',
      '[2001:db8::1',
      '2001:db8::1]',
      '[]',
      '""',
    ],
    ...['for=203.0.113.7', '\u0000', '203.0.113.7/32', '2001:db8::1/64', '-', '%', '[%]', ':443', 'é', '203.0.113.7 x'],
    ...[undefined, '', ' ', ',', ' , ,, '],
  ])('is the address of the proxy for %j', (item) => {
    expect(clientOf(item)).toBe(PROXY);
  });

  it.each([
    ['the last item, since the others may be invented', `1.1.1.1, 2.2.2.2, ${CLIENT}`, CLIENT],
    ['the last that no proxy has', `1.1.1.1, ${CLIENT}, 10.0.0.3, 10.0.0.2`, CLIENT],
    ['the last before empty items', `1.1.1.1, ${CLIENT} , ,, `, CLIENT],
    ['the first when all are proxies', '10.0.0.4,10.0.0.3,10.0.0.2', '10.0.0.4'],
    ['the proxy before a name', `${CLIENT}, unknown, 10.0.0.2`, '10.0.0.2'],
    ['a proxy in another spelling, with a port', `${CLIENT}, [::ffff:10.0.0.2]:80`, CLIENT],
    ['the last of 10,000', `${'1.1.1.1,'.repeat(9_999)}${CLIENT}`, CLIENT],
    ['the last of 10,000 empty ones', `${CLIENT}${','.repeat(9_999)}`, CLIENT],
  ])('is %s', (_name, list, address) => {
    expect(clientOf(list, PROXY, ['10.0.0.0/8'])).toBe(address);
  });

  it.each([
    ['an IPv4 proxy that connects over IPv6', '::ffff:10.0.0.1', [PROXY]],
    ['a network in the form of IPv6', PROXY, ['::ffff:10.0.0.0/104']],
    ['an address in the form of IPv6', PROXY, ['::ffff:10.0.0.1']],
    ['a proxy with another spelling', '2001:db8:0:0::1', ['2001:DB8::1']],
    ['a proxy with a zone', 'fe80::1%eth0', ['fe80::/10']],
  ])('is the address that %s states', (_name, from, trusted) => {
    expect(clientOf(CLIENT, from, trusted)).toBe(CLIENT);
  });

  it.each([
    ['any, without trusted proxies', PROXY, []],
    ['one that is not trusted', '192.0.2.1', [PROXY]],
    ['one of the other family', '2001:db8::1', ['10.0.0.0/8']],
  ])('is not the address that a peer states: %s', (_name, from, trusted) => {
    expect(clientOf('1.1.1.1', from, trusted)).toBe(from);
  });
});
