import { parseBaseUrl } from './context.js';

it.each([
  ['https://sluice.example.com', 'https://sluice.example.com'],
  ['http://127.0.0.1:3000/', 'http://127.0.0.1:3000'],
  ['https://example.com/sluice//', 'https://example.com/sluice'],
])('The base URL %s is %s', (text, url) => {
  expect(parseBaseUrl(text, '--base-url')).toBe(url);
});

it.each([
  ...['https://user:secret@example.com', 'https://secret@example.com', 'https://example.com?key=secret'],
  ...['ftp://secret.example.com', 'secret', '', 'javascript:secret'],
])('%s is no base URL, and is not repeated', (text) => {
  expect(() => parseBaseUrl(text, '--base-url')).toThrow(/^(?!.*secret)--base-url must be a URL/);
});
