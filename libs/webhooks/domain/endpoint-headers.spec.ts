import { headersError } from './endpoint-headers.js';

const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`x-${index}`, 'a']));
const NAMES = /^The names of headers must be 1 to 100 of the characters/;
const VALUES = /^The values of headers must be strings of 1 to 2048 characters/;

describe('headersError', () => {
  it.each<[string, Readonly<Record<string, string>>]>([
    ['none', {}],
    ['a token', { Authorization: 'Bearer a.b-c_d' }],
    ['every character of a token', { "!#$%&'*+.^_`|~09AZaz-": 'a' }],
    ['a name of objects', { ['__proto__']: 'a', constructor: 'b', toString: 'c' }],
    ['spaces and tabs within', { a: 'b \t c' }],
    ['one character', { a: '"' }],
    ['the longest', { ['a'.repeat(100)]: 'b'.repeat(2_048) }],
    ['twenty', many(20)],
    ['names that only begin like others', { hosts: 'a', 'x-content-type': 'b', contents: 'c', webhook: 'd' }],
  ])('accepts %s', (_what, headers) => {
    expect(headersError(headers)).toBeNull();
  });

  it.each([
    ...['host', 'Host', 'HOST', 'connection', 'keep-alive', 'transfer-encoding', 'te', 'trailer', 'upgrade', 'expect'],
    ...['http2-settings', 'user-agent', 'traceparent', 'tracestate', 'cookie', 'via', 'content-length', 'Content-Type'],
    ...['content-encoding', 'content-', 'webhook-id', 'Webhook-Signature', 'webhook-timestamp', 'webhook-x'],
    ...['proxy-authorization', 'Proxy-Connection', 'proxy-'],
  ])('refuses %s', (name) => {
    expect(headersError({ [name]: 'a' })).toBe(`headers must not contain ${name.toLowerCase()}.`);
  });

  it.each([
    ...['', ' ', 'a b', ' a', 'a ', 'a:', ':authority', 'a\r\nb', 'a\n', 'a\u0000', 'ä', 'a/b', 'a(b)', 'a"', 'a,b'],
    ...['\u017f', '\u212a', 'a'.repeat(101), 'x-a: b\r\nhost'],
  ])('refuses the name %j', (name) => {
    expect(headersError({ [name]: 'a' })).toMatch(NAMES);
  });

  it.each([
    ...['', ' ', '\t', ' a', 'a ', 'a\r\nX-Injected: b', 'a\n', '\na', 'a\rb', 'a\u0000', 'a\u007f', 'ä', 'a\u0085b'],
    ...['a\u2028b', 'a\u000bb', 'č', '嘊嘍', 'a'.repeat(2_049), 1, true, null, ['a'], { a: 'b' }, undefined],
  ])('refuses the value %j, without repeating it', (value) => {
    expect(headersError({ 'x-secret': value })).toMatch(VALUES);
  });

  it('refuses too many, too much, and a name twice', () => {
    expect(headersError(many(21))).toBe('headers must have at most 20 names.');
    const long = Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [name, 'x'.repeat(2_000)]));
    expect(headersError(long)).toBe('headers must have at most 6144 characters in all.');
    expect(headersError({ 'X-A': 'a', 'x-a': 'b' })).toBe('headers must contain x-a only once.');
  });
});
