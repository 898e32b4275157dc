import { API_SECURITY_HEADERS } from '@gatehouse/http';
import { freeMemory } from '@gatehouse/http/free-memory';
import { SMALL_BODY_BYTES } from '../bodies/held-body.ts';
import { intake } from '../bodies/intake.ts';
import type { GatewayKey } from '../catalogue/queries.ts';
import { dialectOf, errorBody } from '../errors/dialect.ts';
import type { GatewayError } from '../errors/gateway-error.ts';
import { type RateDecision, rateHeaders } from '../rates/rate-limiter.ts';
import { namesInHeader } from '../wire/headers.ts';
import type { Exchange } from './exchange.ts';

// All writes to callers are in this file.

// A caller that does not read its answer occupies memory. It gets half a minute, plus the time for the unsent bytes at a
// rate that any connection reaches: 64 KiB per second.
export const STALLED_MS = 30_000;
export const PACED_BYTES = 1024 * 1024;
export const PACED_MS = 16_000;
// How much of an unwanted body is read and discarded, so that the caller can finish sending and see the answer.
export const DISCARDED_BYTES = 64 * 1024 * 1024;
export const DISCARDED_BYTES_OF_STRANGERS = 1024 * 1024;
// Up to here Node writes a text together with the head, in one system call and without an object for each part.
const ONE_WRITE_BYTES = 16 * 1024;

/** The facts of a request's key and credit for the headers of an answer, and the owner for whom an unwanted body is read. */
export interface AnswerContext {
  readonly key?: GatewayKey | undefined;
  readonly rate?: RateDecision | undefined;
  readonly sent?: { readonly loweredOutputCap: number | undefined } | undefined;
}

/** Sends the gateway's own answer. */
export function sendError(exchange: Exchange, refusal: GatewayError, context: AnswerContext): void {
  const headers = { 'content-type': 'application/json; charset=utf-8', ...refusal.headers };
  sendWhole(
    exchange,
    refusal.status,
    headers,
    Buffer.from(errorBody(refusal, dialectOf(exchange.request), exchange.id)),
    context,
  );
}

/** Sends a complete answer. */
export function sendWhole(
  exchange: Exchange,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: Buffer,
  context: AnswerContext,
): void {
  const { request, response } = exchange;
  if (response.headersSent || response.destroyed) return;
  // A caller that expects 100-continue may or may not send its body now, so the connection cannot be reused.
  if (exchange.expectsContinue && !request.complete) response.shouldKeepAlive = false;
  const head = commonHeaders(exchange, context);
  Object.assign(head, headers);
  // A 204 must not state a length.
  if (status !== 204) head['content-length'] = String(body.length);
  response.writeHead(status, head);
  finish(exchange, body);
  if (!request.complete) discardBody(exchange, context);
}

/** Sends the headers of a stream, in one write with the events that are passed on at once. */
export function beginStream(
  exchange: Exchange,
  status: number,
  headers: Readonly<Record<string, string>>,
  context: AnswerContext,
): void {
  const { response } = exchange;
  const head = commonHeaders(exchange, context);
  // This header asks proxies not to buffer the stream.
  Object.assign(head, headers)['x-accel-buffering'] = 'no';
  // Not the response: its end, while it is corked, would come before what was written.
  const { socket } = response;
  socket?.cork();
  response.writeHead(status, head);
  response.flushHeaders();
  process.nextTick(() => socket?.uncork());
}

/**
 * Sends more of a stream; false when the caller is slower than it comes. To a caller that keeps up, as nearly all do, few bytes go as one
 * chunk in one write: Node would make four of it, and send those with the next tick.
 */
export function writeEvents({ response }: Exchange, bytes: Buffer): boolean {
  const { socket } = response;
  if (
    bytes.length > ONE_WRITE_BYTES ||
    !response.chunkedEncoding ||
    !socket?.writable ||
    socket.writableLength > 0 ||
    socket.writableCorked > 0
  )
    return response.write(bytes);
  socket.write(`${bytes.length.toString(16)}\r\n${bytes.toString('latin1')}\r\n`, 'latin1');
  return true;
}

/** Sends the last bytes of an answer. */
export function finish(exchange: Exchange, last: Buffer): void {
  const { response } = exchange;
  // In Latin-1 each byte is one character, whatever the bytes stand for.
  if (last.length <= ONE_WRITE_BYTES) response.end(last.toString('latin1'), 'latin1');
  else response.end(last);
  if (response.writableLength === 0) return;
  // An answer queued behind an earlier one on its connection has no socket yet.
  if (response.socket) limitWait(exchange);
  else response.once('socket', () => limitWait(exchange));
}

/** How long a caller may take to read this many bytes. */
export function longestWaitMs(bytes: number): number {
  return STALLED_MS + Math.ceil(bytes / PACED_BYTES) * PACED_MS;
}

/** Closes the connection when the caller does not read its answer in time. Returns what cancels that. */
export function limitWait({ response, timers }: Exchange): () => void {
  const cancel = timers.after(longestWaitMs(response.writableLength), () => response.destroy());
  response.once('close', cancel);
  return () => {
    response.off('close', cancel);
    cancel();
  };
}

/** Ends a stream so that the caller sees that it is incomplete: what was sent arrives, the regular end does not. */
export function abortResponse({ request, response, timers }: Exchange): void {
  const socket = response.socket ?? request.socket;
  if (socket.destroyed) return;
  const cancel = timers.after(longestWaitMs(socket.writableLength), () => socket.destroy());
  socket.once('close', cancel);
  socket.destroySoon();
}

function commonHeaders(
  { id, request, metadata, crossOrigin }: Exchange,
  { rate, sent }: AnswerContext,
): Record<string, string> {
  const headers: Record<string, string> = { 'x-request-id': id, ...API_SECURITY_HEADERS, ...crossOrigin };
  if (metadata && metadata.cut.length > 0) headers['x-gatehouse-metadata-cut'] = namesInHeader(metadata.cut);
  // Under which Anthropic's clients look for it.
  if (dialectOf(request) === 'anthropic') headers['request-id'] = id;
  const lowered = sent?.loweredOutputCap;
  if (lowered !== undefined) headers['x-gatehouse-output-limit'] = String(lowered);
  return rate ? Object.assign(headers, rateHeaders(rate)) : headers;
}

function discardBody({ request }: Exchange, { key }: AnswerContext): void {
  const most = key ? DISCARDED_BYTES : DISCARDED_BYTES_OF_STRANGERS;
  let size = 0;
  request.on('data', (chunk: Buffer) => {
    const { length } = chunk;
    size += length;
    freeMemory(chunk);
    if (size > most) request.destroy();
    else if (size > SMALL_BODY_BYTES) intake.count(key?.organizationId ?? '', request, length);
  });
  request.resume();
}
