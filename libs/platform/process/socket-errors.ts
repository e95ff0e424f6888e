/** Codes of Node for sockets: the server cannot be reached, or the connection to it is lost. */
const SOCKET_ERROR = /^(ECONN\w+|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)$/;

/** Whether a server cannot be reached, or the connection to it is lost. */
export function isSocketError(error: unknown): boolean {
  const { code = '', syscall = '' } = (error ?? {}) as Partial<NodeJS.ErrnoException>;
  // Of a Unix socket whose server is not running.
  return SOCKET_ERROR.test(code) || (syscall === 'connect' && /^(ENOENT|EACCES)$/.test(code));
}
