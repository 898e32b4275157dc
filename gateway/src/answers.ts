import { dialectOf, refusalBody } from './dialect.ts';
import type { Exchange } from './exchange.ts';
import { FIXED_HEADERS } from './fixed-headers.ts';
import { rateHeaders } from './rates/rate-limiter.ts';
import type { Refusal } from './refusal.ts';

// Everything that is written to a caller is written here.

// A caller that takes nothing for so long is not waited for any more.
const STALLED_MS = 30_000;
// How much of a body that nobody wants is read past, so that the caller can finish sending and see the answer.
const DISCARDED_BYTES = 64 * 1024 * 1024;
const DISCARDED_BYTES_OF_STRANGERS = 1024 * 1024;

/** Sends the gateway's own answer. */
export function sendRefusal(exchange: Exchange, refusal: Refusal): void {
  const headers = { 'content-type': 'application/json; charset=utf-8', ...refusal.headers };
  sendWhole(
    exchange,
    refusal.status,
    headers,
    Buffer.from(refusalBody(refusal, dialectOf(exchange.request), exchange.id)),
  );
}

/** Sends an answer that is all there. */
export function sendWhole(
  exchange: Exchange,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: Buffer,
): void {
  const { request, response } = exchange;
  if (response.headersSent || response.destroyed) return;
  // A caller that waits for leave to send its body may send it all the same, or not: the connection is no use.
  if (exchange.expectsContinue && !request.complete) response.shouldKeepAlive = false;
  response.writeHead(status, { ...commonHeaders(exchange), ...headers, 'content-length': body.length });
  finish(exchange, body);
  if (!request.complete) discardBody(exchange);
}

/** Sends the head of a stream at once; the events follow. */
export function beginStream(exchange: Exchange, status: number, contentType: string): void {
  const { response } = exchange;
  // The second header asks proxies in front not to collect the stream before they pass it on.
  response.writeHead(status, {
    ...commonHeaders(exchange),
    'content-type': contentType,
    'x-accel-buffering': 'no',
  });
  response.flushHeaders();
}

/** Sends the last bytes of an answer. */
export function finish(exchange: Exchange, last: Buffer): void {
  const { response } = exchange;
  response.setTimeout(STALLED_MS, () => response.destroy());
  response.end(last);
}

/** Ends a stream so that the caller sees that it is not whole: what was sent arrives, its proper end does not. */
export function breakOff(exchange: Exchange): void {
  // An answer that waits for an earlier one on its connection has no socket yet.
  const socket = exchange.response.socket ?? exchange.request.socket;
  socket.setTimeout(STALLED_MS, () => socket.destroy());
  socket.destroySoon();
}

function commonHeaders(exchange: Exchange): Record<string, string> {
  return {
    'x-request-id': exchange.id,
    ...FIXED_HEADERS,
    ...(exchange.rate && rateHeaders(exchange.rate)),
  };
}

function discardBody({ request, key }: Exchange): void {
  const most = key ? DISCARDED_BYTES : DISCARDED_BYTES_OF_STRANGERS;
  let size = 0;
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > most) request.destroy();
  });
  request.resume();
}
