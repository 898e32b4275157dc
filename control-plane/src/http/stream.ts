import { systemClock } from '@gatehouse/concurrency';
import { ApiError } from '@gatehouse/contract';
import type { Logger } from 'pino';
import type { Exchange } from './exchange.ts';
import type { StreamedReply } from './implement.ts';

/** A caller that takes longer over a piece is cut off. */
const STALL_MS = 60_000;
/** Almost every connection takes a piece of this size in that time. */
const PIECE_BYTES = 1_048_576;

/**
 * Writes the pieces as the caller takes them. Throws what fails before the first one. A later failure closes the
 * connection, so that no client takes the answer for complete; its cause is logged here.
 */
export async function sendStream(
  { id, response, headers: common }: Exchange,
  status: number,
  { pieces, contentType, headers }: StreamedReply,
  log: Logger,
): Promise<void> {
  try {
    for await (const piece of pieces) {
      // A caller that left has its own line in the log.
      if (response.destroyed) return;
      if (!response.headersSent) writeHead();
      for (let start = 0; start < piece.length; start += PIECE_BYTES) {
        if (!response.write(piece.subarray(start, start + PIECE_BYTES))) await untilTaken();
        if (response.destroyed) return;
      }
    }
    if (response.destroyed) return;
    if (!response.headersSent) writeHead();
    response.end();
  } catch (error) {
    if (!response.headersSent) throw error;
    if (!response.destroyed && !(error instanceof ApiError))
      log.warn({ event: 'http.stream_failed', request_id: id, err: error }, 'response stream failed');
    // Lets what was written reach the connection first.
    setImmediate(() => response.destroy());
  }

  function writeHead(): void {
    response.writeHead(status, { ...common, ...headers, 'content-type': contentType });
  }

  /** Resolves when the caller has taken what was written, or is gone. */
  async function untilTaken(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancelTimeout = systemClock.after(STALL_MS, () => response.destroy());
    response.once('drain', resolve).once('close', resolve);
    await promise;
    cancelTimeout();
    response.off('drain', resolve).off('close', resolve);
  }
}
