import { randomUUID } from 'node:crypto';
import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import { SECURITY_HEADERS } from './headers.ts';

// What Node says of a request that it could not read to the end, and how that is answered. All else is 400.
const ANSWERS: Readonly<Record<string, readonly [status: number, sentence: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request took too long to arrive.'],
  HPE_HEADER_OVERFLOW: [431, 'The headers are larger than what is accepted.'],
};

/**
 * Answers on the bare socket what never became a request, with the headers that every answer has, and lets go of
 * the connection whether or not the other side does.
 */
export function answerClientError(error: Error & { code?: string }, socket: Socket, log: Logger): void {
  const [status, sentence] = ANSWERS[error.code ?? ''] ?? [400, 'The request is not valid HTTP.'];
  // In the middle of an answer that is under way, this one would be taken for a part of it.
  const underWay = (socket as Socket & { _httpMessage?: ServerResponse })._httpMessage;
  if (error.code === 'ECONNRESET' || !socket.writable || underWay?.headersSent) {
    socket.destroy();
    return;
  }
  const requestId = randomUUID();
  const body = JSON.stringify({ error: sentence });
  const headers = {
    ...SECURITY_HEADERS,
    'x-request-id': requestId,
    'cache-control': 'no-store',
    connection: 'close',
    'content-type': 'application/json; charset=utf-8',
    'content-length': body.length,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.write([`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', body].join('\r\n'));
  socket.destroySoon();
  log.info({ request_id: requestId, status, code: error.code }, 'not a request');
}
