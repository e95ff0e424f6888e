import { ValidationError } from '#kernel/domain-error.js';
import { assertDistinct } from './endpoint.js';

/** Ways to write one URL, with others that are not the same. */
const FAMILIES: readonly (readonly [url: string, same: readonly string[], others: readonly string[]])[] = [
  [
    'https://example.com/',
    [
      ...['https://example.com', 'HTTPS://EXAMPLE.COM/', 'https://example.com:443', 'https://example.com:0443/'],
      ...['https://example.com./', 'https://example.com.:443', 'https:example.com', 'https:\\\\example.com\\'],
      ...['https://ex%61mple.com', 'https://example.com/?', 'https://example.com/.', 'https://example.com/a/..'],
      ...['https://ｅｘａｍｐｌｅ.com', 'https://example。com/', 'https://ex\u00adample.com/'],
    ],
    ['http://example.com/', 'https://example.com:8443/', 'https://www.example.com/', 'https://example.com/a'],
  ],
  [
    'http://bücher.example/%7Ea',
    ['http://xn--bcher-kva.example/~a', 'http://BÜCHER.example:80/%7ea', 'http://bu\u0308cher.example/~%61'],
    ['http://bucher.example/~a', 'http://bücher.example/~a/', 'http://bücher.example/~A'],
  ],
  [
    'https://example.com/a%2fb?c=%7E',
    ['https://example.com/a%2Fb?c=~', 'https://example.com/./a%2Fb?%63=%7e', 'https://example.com/x/%2e%2E/a%2fb?c=~'],
    ['https://example.com/a/b?c=~', 'https://example.com/a%2fb', 'https://example.com//a%2fb?c=~'],
  ],
  [
    'http://127.0.0.1:8080/',
    [
      ...['http://2130706433:8080', 'http://0x7f.1:8080', 'http://127.1:8080/', 'http://0177.0.0.1:8080/'],
      ...['http://127.0.0.1.:8080', 'http://[::ffff:127.0.0.1]:8080', 'http://[::FFFF:7f00:1]:8080/'],
      ...['http://[0:0:0:0:0:ffff:7f00:0001]:8080/', 'http://１２７.0.0.1:8080'],
    ],
    ['http://127.0.0.2:8080/', 'http://127.0.0.1/', 'http://[::127.0.0.1]:8080/'],
  ],
  [
    'http://[2001:db8::1]/',
    ['http://[2001:DB8:0:0::1]:80', 'http://[2001:0db8:0000::0001]', 'http://[2001:db8::0.0.0.1]/'],
    ['http://[2001:db8::2]/'],
  ],
];

describe('The URLs of endpoints', () => {
  it.each(FAMILIES.flatMap(([url, same]) => same.map((other) => [url, other])))('%s and %s are one', (url, other) => {
    for (const [one, two] of [
      [url, other],
      [other, url],
    ]) {
      expect(() => {
        assertDistinct(one ?? '', ['https://other.example/', two ?? '']);
      }).toThrow(ValidationError);
    }
  });

  it.each(FAMILIES.flatMap(([url, , others]) => others.map((other) => [url, other])))(
    '%s and %s are two',
    (url, other) => {
      expect(() => {
        assertDistinct(url, [other]);
      }).not.toThrow();
    },
  );
});
