import { Readable } from 'node:stream';
import { ApiError } from '@gatehouse/contract';
import type { FastifyReply } from 'fastify';
import type { Logger } from 'pino';
import type { StreamedReply } from './implement.ts';

/** A caller that takes longer over a piece has lost interest; what it was sent so far ends without an end. */
const STALL_MS = 60_000;
/** A caller is slower than most connections ever are if it does not take a piece of this size in that time. */
const PIECE_BYTES = 1_048_576;

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
  const stream = Readable.from(
    patiently(pieces, () => reply.raw.destroy()),
    { objectMode: false },
  );
  stream.on('error', (error) => {
    // Before anything was sent, the failure is answered and logged like every other. Whoever refused has said why.
    if (reply.raw.headersSent && !reply.raw.destroyed && !(error instanceof ApiError))
      log.warn({ request_id: reply.request.id, err: error }, 'an answer broke off');
  });
  return reply
    .code(status)
    .headers(headers ?? {})
    .header('content-type', contentType)
    .send(stream);
}

/** The pieces in moderate size. The caller has so long for each, but however long the next one takes to come is not its fault. */
async function* patiently(
  pieces: AsyncIterable<Uint8Array>,
  giveUp: () => void,
): AsyncGenerator<Uint8Array, void> {
  for await (const piece of pieces) {
    for (let start = 0; start < piece.length; start += PIECE_BYTES) {
      const timer = setTimeout(giveUp, STALL_MS);
      try {
        yield piece.subarray(start, start + PIECE_BYTES);
      } finally {
        clearTimeout(timer);
      }
    }
  }
}
