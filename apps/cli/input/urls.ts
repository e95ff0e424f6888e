import { isIPv4 } from 'node:net';
import { CliError, EXIT } from '../support/exit-codes.js';

/** The base URL of a service. @param name the option or variable that contains the URL */
export function parseBaseUrl(text: string, name: string): string {
  const url = httpUrl(text);
  if (url === null || url.search !== '') {
    // Without the URL, which may have a password.
    throw new CliError(
      `${name} must be a URL like https://sluice.example.com, without a password, query or fragment.`,
      EXIT.usage,
    );
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}

/** The URL to forward messages to. `http://` may be left out, and of a port of this machine also the host. */
export function parseForwardUrl(text: string, name: string): string {
  const hasScheme = /^[a-z][a-z\d+.-]*:(?!\d+(?:[/?]|$))/i.test(text);
  const url = httpUrl(hasScheme ? text : `http://${text.replace(/^\d+(?=[/?]|$)/, 'localhost:$&')}`);
  if (url === null) {
    throw new CliError(
      `${name} must be a URL like http://localhost:3000/hook, without a password or fragment.`,
      EXIT.usage,
    );
  }
  requireUsablePort(url.href, name);
  return url.href;
}

/** A parser of the URL of an endpoint. The service knows which hosts it may reach. */
export function endpointUrl(text: string): string {
  if (httpUrl(text) !== null) return text;
  // Without the URL, which may have a password.
  throw new CliError(
    'The URL of an endpoint must be like https://example.com/hooks, without a password or fragment.',
    EXIT.usage,
  );
}

/** The URL by which a service reaches a port of this machine. */
export function parseReceiverUrl(text: string, name: string): string {
  const url = httpUrl(text);
  if (url?.protocol !== 'http:' || !/^http:\/\/[^/]+:\d+(\/|$)/i.test(text) || url.port === '0') {
    throw new CliError(`${name} is invalid. It must be a URL with a port, like http://10.0.0.1:4000.`, EXIT.usage);
  }
  return url.href;
}

/** @throws CliError for a port with which `fetch` never connects */
export function requireUsablePort(url: string, name: string): void {
  const { port } = new URL(url);
  if (port !== '0' && !BLOCKED_PORTS.has(Number(port))) return;
  throw new CliError(`${name} has the port ${port}, to which HTTP clients do not connect.`, EXIT.usage);
}

function httpUrl(text: string): URL | null {
  // `URL` would leave out tabs and line ends.
  // oxlint-disable-next-line no-control-regex -- these are the ones to refuse
  if (/[\s\u0000-\u001f\u007f]/.test(text) || !URL.canParse(text)) return null;
  const url = new URL(text);
  // `URL` would take the beginning of a path for the host, and numbers for an address.
  if (!/^https?:\/\/[^/\\]/i.test(text) || (isIPv4(url.hostname) && !text.includes(url.hostname))) return null;
  return url.username + url.password + url.hash === '' ? url : null;
}

/** The "bad ports" of the Fetch standard. */
const BLOCKED_PORTS = new Set([
  ...[
    1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110,
  ],
  ...[
    111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532,
  ],
  ...[540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061],
  ...[6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080],
]);
