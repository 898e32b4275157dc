import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { RequestLines } from '../refused/request-lines.ts';
import { FIXED_HEADERS } from './fixed-headers.ts';
import { Refusal } from './refusal.ts';
import { newRequestId } from './request-id.ts';

// What Node says of a request that it could not read to the end, and how that is answered. All else is 400.
const ANSWERS: Readonly<Record<string, readonly [status: number, message: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request took too long to arrive.'],
  HPE_HEADER_OVERFLOW: [431, "The request's headers are too large."],
};

/**
 * Answers on the bare socket what never became a request, with the headers that every answer has, and lets go of
 * the connection whether or not the other side does.
 */
export function answerClientError(code: string | undefined, socket: Socket, log: RequestLines): void {
  const [status, message] = ANSWERS[code ?? ''] ?? [400, 'The request is not valid HTTP.'];
  const refusal = new Refusal({ status, type: 'invalid_request_error', code: 'invalid_request', message });
  const body = refusal.toBody();
  const requestId = newRequestId(Date.now());
  const headers = {
    'x-request-id': requestId,
    ...FIXED_HEADERS,
    connection: 'close',
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.write([`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', body].join('\r\n'));
  socket.destroySoon();
  log.writeNoRequest({ request_id: requestId, status, code });
}
