import { UnusableSession } from './session.js';

/** The SQLSTATEs of an authentication that is not possible, and of a protocol that is violated. */
const NOT_AUTHENTICATED = '28000';
const PROTOCOL_VIOLATION = '08P01';

/** What a server may begin with, and the length that it then may have, as in libpq: E an error, R authentication. */
const FIRST = { E: 30_000, R: 2_000 } as const;
const HEADER_BYTES = 5;

/** Ways to authenticate that pg does not know, by their code. */
const AUTHENTICATION: Readonly<Record<number, string>> = {
  ...{ 2: 'Kerberos V5', 6: 'SCM credentials', 7: 'GSSAPI', 8: 'GSSAPI', 9: 'SSPI' },
};

/** What pg has while it is being connected, without a public way to it. */
export interface PgConnection extends NodeJS.EventEmitter {
  ssl: boolean | object;
  readonly stream: NodeJS.EventEmitter & { destroy(error?: Error): void };
  attachListeners(stream: PgConnection['stream']): void;
}

/**
 * Ends a connection whose server sends what pg does not understand: pg would throw in the handler of its socket, which ends
 * the process, or wait for the rest of a message that is none.
 */
export function refuseStrangeMessages(connection: PgConnection): void {
  const attach = connection.attachListeners.bind(connection);
  connection.attachListeners = (stream) => {
    attach(stream);
    const [parse] = stream.listeners('data').slice(-1) as [(bytes: Buffer) => void];
    stream.removeListener('data', parse);
    let isFirst = true;
    stream.on('data', (bytes: Buffer) => {
      const isStrange = isFirst && !mayBeFirst(bytes);
      isFirst = false;
      try {
        if (isStrange) throw new Error('not a message of PostgreSQL');
        parse(bytes);
      } catch (error) {
        stream.destroy(notUnderstood(error));
      }
    });
  };
}

function mayBeFirst(bytes: Buffer): boolean {
  const longest = FIRST[bytes.toString('latin1', 0, 1) as keyof typeof FIRST] as number | undefined;
  return longest !== undefined && (bytes.length < HEADER_BYTES || bytes.readUInt32BE(1) <= longest);
}

/** @param error of pg */
export function notUnderstood(error: unknown): UnusableSession {
  const { message } = error as Error;
  const code = /authenticationOk message type (\d+)/.exec(message)?.[1];
  const method = AUTHENTICATION[Number(code)] ?? `an unknown method (${String(code)})`;
  const reason =
    code === undefined
      ? 'was reached, but does not respond as PostgreSQL does'
      : `asks for authentication by ${method}, which Sluice does not support: allow scram-sha-256 in pg_hba.conf`;
  const unusable = new UnusableSession(reason, false, code === undefined ? PROTOCOL_VIOLATION : NOT_AUTHENTICATED);
  unusable.cause = error;
  return unusable;
}
