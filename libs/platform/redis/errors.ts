import { isSocketError } from '../process/socket-errors.js';
import { TLS_ERROR } from '../process/tls-files.js';

/** What ioredis reports when a command was not sent, or its response did not come. */
const CLIENT_MESSAGE =
  /Connection is closed|Command aborted|Failed to refresh slots|None of startup nodes|All sentinels are unreachable|Cluster isn't ready|Cluster is ended|too many cluster redirections|isn't writeable|max retries per request|Command timed out|Socket timeout|Connection is in subscriber/i;

/**
 * Responses of a Redis that is full, starting, stopping, busy or read-only, or has withdrawn rights. Scripts of older
 * versions wrap them, and report missing rights in sentences of their own.
 */
const TEMPORARY =
  /(^|[\s-])(OOM|LOADING|BUSY|READONLY|MASTERDOWN|MISCONF|NOREPLICAS|CLUSTERDOWN|MOVED|ASK|TRYAGAIN|NOAUTH|WRONGPASS|NOPERM) |The user executing the script can't |ACL failure in script/;

/**
 * Responses after which a connection stays useless, while a new one may lead to another server: of a replica, or of a
 * master that has lost its replicas and perhaps its role. Rights, memory and disks are the same for all connections.
 */
const USELESS = /(^|[\s-])(READONLY|MASTERDOWN|NOREPLICAS|NOAUTH) /;

/** Whether the connection that returned this error should be replaced. */
export function makesUseless({ message }: Error): boolean {
  return USELESS.test(message);
}

/** Whether Redis has answered that it can do nothing now. */
export function isTemporaryResponse(error: unknown): boolean {
  return TEMPORARY.test((error as Error | null)?.message ?? '');
}

/** Whether Redis cannot be reached or is temporarily unable, so that the same command may succeed later. */
export function isRedisUnavailable(error: unknown): boolean {
  const { code = '', message = '' } = (error ?? {}) as { readonly code?: string; readonly message?: string };
  return isSocketError(error) || TLS_ERROR.test(code) || CLIENT_MESSAGE.test(message) || isTemporaryResponse(error);
}

/** Why the same command may succeed later, as a sentence. */
export function whyUnavailable(error: unknown): string {
  if (!isTemporaryResponse(error)) return 'The service cannot reach Redis.';
  return /(^|[\s-])OOM /.test((error as Error).message) ? 'Redis has no memory left.' : 'Redis refuses commands.';
}

/** Whether ioredis made this error: of a response of Redis, or because there was none. */
export function isOfRedis(error: unknown): error is Error {
  return error instanceof Error && (error.name === 'ReplyError' || CLIENT_MESSAGE.test(error.message));
}

/** A message of ioredis as a part of a sentence, without the arguments of the command. */
export function withoutEnd(message: string): string {
  return message
    .replace(/(unknown command [^,]+), with args beginning with:.*/s, '$1: it was renamed or disabled')
    .replace(/(\. Please report this)?[.:\s]*$/, '');
}
