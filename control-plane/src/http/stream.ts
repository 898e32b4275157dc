import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { Logger } from 'pino';
import type { StreamedReply } from './implement.ts';

/** A caller that takes nothing for this long has lost interest; what it was sent so far ends without an end. */
const STALL_MS = 60_000;

/** Aborts when the connection of the answer closes before the answer is finished. */
export function goneSignal({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  raw.once('close', () => {
    if (!raw.writableFinished) gone.abort(new CallerGone());
  });
  return gone.signal;
}

/** The caller closed the connection before it had its answer. */
class CallerGone extends Error {
  override readonly name = 'CallerGone';
  constructor() {
    super('the caller closed the connection');
  }
}

/**
 * Writes the pieces as the caller takes them. A failure after the first one breaks the connection off, which every
 * client tells from an answer that has ended; its cause is logged here.
 */
export function sendStream(
  reply: FastifyReply,
  status: number,
  { pieces, contentType, headers }: StreamedReply,
  log: Logger,
): FastifyReply {
  reply.raw.setTimeout(STALL_MS, () => reply.raw.destroy());
  const stream = Readable.from(pieces, { objectMode: false });
  stream.on('error', (error) => {
    // Before anything was sent, the failure is answered and logged like every other.
    if (reply.raw.headersSent && !reply.raw.destroyed)
      log.warn({ request_id: reply.request.id, err: error }, 'an answer broke off');
  });
  return reply
    .code(status)
    .headers(headers ?? {})
    .header('content-type', contentType)
    .send(stream);
}
