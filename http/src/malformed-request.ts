import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';

/** The meaning of a `clientError` of Node's HTTP server: a late request, headers beyond the limit, or no valid HTTP. */
export type MalformedStatus = 400 | 408 | 431;

/** How a listener answers and logs bytes that never became a request. */
export interface MalformedAnswers {
  readonly headers: Readonly<Record<string, string>>;
  readonly newRequestId: () => string;
  readonly bodies: Readonly<Record<MalformedStatus, string>>;
  readonly log: (fields: {
    readonly request_id: string;
    readonly status: MalformedStatus;
    readonly code: string | undefined;
  }) => void;
}

const STATUSES: Readonly<Record<string, MalformedStatus>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_HEADER_OVERFLOW: 431,
};

/**
 * Answers on the bare socket with the headers that every answer has, and closes the connection whether or not the peer
 * does. Bytes in the middle of an answer would be taken for a part of it, so there the connection is only closed.
 */
export function answerMalformed(
  error: NodeJS.ErrnoException,
  socket: Socket,
  { headers, newRequestId, bodies, log }: MalformedAnswers,
): void {
  const current = (socket as Socket & { _httpMessage?: ServerResponse })._httpMessage;
  if (error.code === 'ECONNRESET' || !socket.writable || current?.headersSent) {
    socket.destroy();
    return;
  }
  const status = STATUSES[error.code ?? ''] ?? 400;
  const requestId = newRequestId();
  const body = bodies[status];
  const all = {
    ...headers,
    'x-request-id': requestId,
    connection: 'close',
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  socket.write([`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', body].join('\r\n'));
  socket.destroySoon();
  log({ request_id: requestId, status, code: error.code });
}
