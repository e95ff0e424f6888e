/** What Node reports when a server can't listen. */
interface ListenError {
  readonly code: string;
  readonly port: number;
  readonly address: string;
  /** Set instead of `address` when the name could not be resolved. */
  readonly hostname: string;
}

/**
 * Why a server could not listen, in one sentence; null for another error.
 * @param prefix of the names of its settings
 */
export function listenErrorMessage(error: unknown, prefix = ''): string | null {
  const { code, port = NaN, address, hostname = '' } = error as Partial<ListenError>;
  if (code === 'EADDRINUSE') return portInUse(port, prefix);
  if (code === 'EACCES') return `Port ${port} may not be used by this user: set ${prefix}PORT to another one.`;
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return `${prefix}HOST must be an address of this machine; it is "${address ?? hostname}".`;
  }
  return null;
}

export function portInUse(port: number, prefix = ''): string {
  return `Port ${port} is in use: stop what uses it or set ${prefix}PORT to another one.`;
}
