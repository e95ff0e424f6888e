/** Codes of Node for sockets: the server cannot be reached, or the connection to it is lost. */
export const SOCKET_ERROR = /^(ECONN\w+|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)$/;
