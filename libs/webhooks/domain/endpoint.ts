import { DomainError, ValidationError } from '#kernel/domain-error.js';
import { isLongerThan, isStorable } from '#kernel/text.js';

/** Endpoints of one account. */
export const MAX_ENDPOINTS = 50;
export const MAX_URL_LENGTH = 2_048;
/** Unicode code points. */
export const MAX_DESCRIPTION_LENGTH = 200;
export const MAX_RATE_LIMIT = 10_000;
/** Patterns of the types of messages that an endpoint gets. */
export const MAX_TYPES = 100;
/** How long a secret that was rotated may remain valid. */
export const MAX_GRACE_SECONDS = 30 * 86_400;

/**
 * Why an endpoint is disabled: its account did it, it answered 410, or all attempts have failed for
 * WEBHOOK_DISABLE_AFTER_HOURS.
 */
export const DISABLED_REASONS = ['by_account', 'gone', 'failing'] as const;
export type DisabledReason = (typeof DISABLED_REASONS)[number];

/** Those for which Sluice disables an endpoint. */
export const AUTOMATIC_REASONS = ['gone', 'failing'] as const satisfies readonly DisabledReason[];
export type AutomaticReason = (typeof AUTOMATIC_REASONS)[number];

/** A URL of an account to which its messages are posted. */
export interface Endpoint {
  readonly id: string;
  readonly accountId: string;
  readonly url: string;
  readonly description: string;
  /** Requests that are started in a second, by all workers together; 0 for no limit. */
  readonly rateLimitPerSecond: number;
  /** Patterns of the types of messages that it gets; none for all. */
  readonly types: readonly string[];
  /** The names of the headers that are sent along. Their values are as secret as what signs requests. */
  readonly headerNames: readonly string[];
  readonly enabled: boolean;
  readonly createdAt: Date;
  /** When it was disabled; null while it is enabled. */
  readonly disabledAt: Date | null;
  readonly disabledReason: DisabledReason | null;
  /** The first failure since the last success, or since a long time without requests; null when there is none. */
  readonly failingSince: Date | null;
  /** A failure after it is a first one again; null when that is not known. */
  readonly failingUntil: Date | null;
  /**
   * Moves when requests go to another URL and when it is enabled again: what was answered to a request before says nothing
   * about it now.
   */
  readonly revision: number;
}

/** Sends requests to another URL. How long the one before has been failing says nothing about it. */
export function moveTo(endpoint: Endpoint, url: string): Endpoint {
  return url === endpoint.url ? endpoint : { ...endpoint, url, failingSince: null, failingUntil: null };
}

/** Enables an endpoint and forgets its failures, so that the time until it is disabled starts anew. */
export function enable(endpoint: Endpoint): Endpoint {
  if (endpoint.enabled) return endpoint;
  const noFailures = { failingSince: null, failingUntil: null };
  return { ...endpoint, enabled: true, disabledAt: null, disabledReason: null, ...noFailures };
}

export function disable(endpoint: Endpoint, disabledReason: DisabledReason, at: Date): Endpoint {
  return endpoint.enabled ? { ...endpoint, enabled: false, disabledAt: at, disabledReason } : endpoint;
}

/** Why a text is not the URL of an endpoint, as a sentence; null when it is. */
export function urlError(text: string): string | null {
  if (text.length > MAX_URL_LENGTH) return `url must be at most ${MAX_URL_LENGTH} characters.`;
  // Parsers remove some of these silently.
  const isPlain = text.isWellFormed() && !/[\s\p{Cc}]/u.test(text);
  if (!isPlain || !URL.canParse(text)) return 'url must be a URL like https://example.com/hooks.';
  const { username, password, hostname, port } = new URL(text);
  // A parser also takes `http:a` and `http:///a` for `http://a`.
  if (!/^https?:\/\/[^/\\]/i.test(text)) return 'url must begin with https:// or http:// and a host.';
  if (!isHost(hostname)) return 'url must have a host name of up to 253 characters, with 1 to 63 between its dots.';
  if (port === '0') return 'url must not have the port 0.';
  if (username !== '' || password !== '') return 'url must not contain a user name or a password.';
  return text.includes('#') ? 'url must not contain a fragment.' : null;
}

/** Whether a name can be looked up: others never resolve. */
function isHost(hostname: string): boolean {
  const name = hostname.replace(/\.$/, '');
  return (
    hostname.startsWith('[') ||
    (name.length <= 253 && name.split('.').every(({ length }) => length > 0 && length <= 63))
  );
}

/** The same for all ways to write a URL: requests to them are the same. */
function normalised(url: string): string {
  const { protocol, hostname, port, pathname, search } = new URL(url);
  const plain = (encoded: string) => {
    const character = String.fromCharCode(Number.parseInt(encoded.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : encoded.toUpperCase();
  };
  const path = `${pathname}${search}`.replace(/%[\da-f]{2}/gi, plain);
  return `${protocol}//${unmapped(hostname.replace(/\.$/, ''))}:${port}${path}`;
}

/** An IPv4 address in the form of IPv6, such as `[::ffff:7f00:1]`, as IPv4. Other hosts remain as they are. */
function unmapped(hostname: string): string {
  const groups = /^\[::ffff:([\da-f]+):([\da-f]+)\]$/.exec(hostname)?.slice(1);
  if (groups === undefined) return hostname;
  return groups.flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255]).join('.');
}

/**
 * An account has one endpoint for a URL: with several, each message would be posted there as often.
 * @param others the URLs of its other endpoints
 * @throws ValidationError when it has one
 */
export function assertDistinct(url: string, others: readonly string[]): void {
  if (!others.map(normalised).includes(normalised(url))) return;
  const detail = 'url must not be that of another endpoint of the account: it would get each message twice.';
  throw new ValidationError([{ pointer: '/url', detail }]);
}

/** Why a text is not a description, as a sentence; null when it is. */
export function descriptionError(text: string): string | null {
  if (isLongerThan(text, MAX_DESCRIPTION_LENGTH)) {
    return `description must be at most ${MAX_DESCRIPTION_LENGTH} characters.`;
  }
  return isStorable(text) ? null : 'description must not contain U+0000 or lone surrogates.';
}

export function endpointNotFound(): DomainError {
  return new DomainError('endpoint_not_found', 'The account has no endpoint with this id.');
}

export function tooManyEndpoints(max: number): DomainError {
  const remedy = max === 0 ? 'Your plan has no endpoints.' : 'Delete one first.';
  return new DomainError('too_many_endpoints', `The account can have at most ${max} endpoints. ${remedy}`);
}
