import { ApiError } from '@gatehouse/contract';
import type { Logger } from 'pino';
import type { Exchange } from './exchange.ts';
import type { StreamedReply } from './implement.ts';

/**
 * Writes the pieces as the caller takes them. Throws what fails before the first one. A later failure closes the
 * connection, so that no client takes the answer for complete; its cause is logged here.
 */
export async function sendStream(
  exchange: Exchange,
  status: number,
  { pieces, contentType, headers, keptBytes }: StreamedReply,
  log: Logger,
): Promise<void> {
  const { id, response, headers: common, body } = exchange;
  try {
    for await (const piece of pieces) {
      // A caller that left has its own line in the log.
      if (response.destroyed) return;
      if (!response.headersSent) writeHead();
      await body.write(piece, piece.length + (keptBytes?.() ?? 0));
      if (response.destroyed) return;
    }
    if (response.destroyed) return;
    if (!response.headersSent) writeHead();
    body.end();
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
}
