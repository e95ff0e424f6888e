import { fetch, type Dispatcher } from 'undici';
import { CliError } from '../support/exit-codes.js';
import { parseBaseUrl, parseForwardUrl, parseReceiverUrl, requireUsablePort } from './urls.js';

const NEVER_A_URL = [
  ...[
    '',
    ' ',
    '/',
    '//',
    'nowhere:',
    ':3000',
    'http://',
    'http:// ',
    'http://a b',
    'http://a\nb',
    ' http://a',
    'http://a ',
  ],
  ...['http://a:65536', 'http://a:-1', 'http://a:1.5', 'http://a:1e3', 'http://a:x', 'http://[::1', 'http://%00'],
  ...['ftp://a', 'file:///etc/passwd', 'file:/etc/passwd', 'ws://a', 'mailto:a@b', 'javascript:alert(1)', 'data:,x'],
  ...[
    'http://user@a',
    'http://user:secret@a',
    'http://:secret@a',
    'http://a/#fragment',
    'http://a#f',
    'unix:/run/a.sock',
  ],
  // `URL` makes hosts of these that are not in the text.
  ...['/hook', '//hook', '///hook', '\\hook', '/hook:3000', 'http:/hook', 'http:hook', 'http:///hook', 'http:\\\\hook'],
  ...['http://3000', 'http://3000/hook', 'http://127.1', 'http://0x7f.1', 'http://0177.0.0.1', 'http://2130706433'],
  ...['3.5', '0x7f.1:3000', '65536', '3000#f', '3000\\hook'],
];

function refusal(parse: () => unknown): CliError | null {
  try {
    parse();
    return null;
  } catch (error) {
    if (error instanceof CliError) return error;
    throw error;
  }
}

function isUsable(url: string): boolean {
  const check = () => {
    requireUsablePort(url, 'it');
  };
  return refusal(check) === null;
}

describe('A URL that is typed', () => {
  it.each(NEVER_A_URL)('%j is refused everywhere, and not repeated', (text) => {
    for (const parse of [parseBaseUrl, parseForwardUrl, parseReceiverUrl]) {
      const error = refusal(() => parse(text, '--option'));
      expect(error).toMatchObject({
        exitCode: 2,
        message: expect.stringMatching(/^--option (is invalid\. It )?must be a URL/) as string,
      });
      expect(error?.message).not.toContain('secret');
    }
  });

  it.each([
    [parseBaseUrl, 'https://sluice.example.com/', 'https://sluice.example.com'],
    [parseBaseUrl, 'HTTP://A:80/base//', 'http://a/base'],
    [parseForwardUrl, 'localhost', 'http://localhost/'],
    [parseForwardUrl, 'localhost:3000/hook?a=b', 'http://localhost:3000/hook?a=b'],
    [parseForwardUrl, '3000', 'http://localhost:3000/'],
    [parseForwardUrl, '3000/hook', 'http://localhost:3000/hook'],
    [parseForwardUrl, '3000?a=b', 'http://localhost:3000/?a=b'],
    [parseForwardUrl, 'Bücher.example:3000', 'http://xn--bcher-kva.example:3000/'],
    [parseForwardUrl, '[0:0:0:0:0:0:0:1]:3000', 'http://[::1]:3000/'],
    [parseForwardUrl, '[::1]:3000', 'http://[::1]:3000/'],
    [parseForwardUrl, '127.0.0.1:65535', 'http://127.0.0.1:65535/'],
    [parseForwardUrl, 'https://a/?b', 'https://a/?b'],
    [parseReceiverUrl, 'http://10.0.0.1:4000', 'http://10.0.0.1:4000/'],
  ])('%p reads %s', (parse, text, expected) => {
    expect(parse(text, '--option')).toBe(expected);
  });

  it.each([
    [parseBaseUrl, 'http://a/?query'],
    [parseForwardUrl, 'localhost:0'],
    [parseForwardUrl, '0'],
    [parseForwardUrl, '22'],
    [parseForwardUrl, 'localhost:6000/hook'],
    [parseForwardUrl, 'user:secret@localhost:3000'],
    [parseReceiverUrl, 'http://10.0.0.1'],
    [parseReceiverUrl, 'http://10.0.0.1:0'],
    [parseReceiverUrl, 'https://10.0.0.1:4000'],
    [parseReceiverUrl, '10.0.0.1:4000'],
  ])('%p refuses %s', (parse, text) => {
    expect(refusal(() => parse(text, '--option'))).toMatchObject({ exitCode: 2 });
  });

  it('refuses every port that fetch refuses', async () => {
    const reached = new Error('reached');
    const dispatcher = {
      dispatch() {
        throw reached;
      },
    } as unknown as Dispatcher;
    for (let port = 1; port < 10_100; port++) {
      // Between these, there are none.
      if ((port > 1_100 && port < 1_700) || (port > 2_100 && port < 3_600) || (port > 6_700 && port < 10_050)) continue;
      const url = `http://127.0.0.1:${port}`;
      const { cause } = (await fetch(url, { dispatcher }).catch((error: unknown) => error)) as { cause?: unknown };
      if ((cause === reached) === isUsable(url)) continue;
      throw new Error(`fetch differs for port ${port}: ${String(cause)}`);
    }
  });
});
