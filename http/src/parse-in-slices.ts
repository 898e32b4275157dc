import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { freeMemory } from './free-memory.ts';
import type { RequestQueues } from './request-queues.ts';

// Node's server parses all that it has read of a connection at once: 64 KiB, which can be hundreds of requests, and nothing of
// another connection meanwhile. In slices, it stops after the one in which too many requests came (request-queues.ts). The
// rest of a body is no further request, so it is parsed with its last slice.

/** Some 75 requests of 109 bytes, or half of the longest head that Node accepts. */
const SLICE_BYTES = 8 * 1024;

/**
 * Has the server's parser read no more than 8 KiB of the connection at once beside what is left of a body, and nothing while
 * many of its requests wait: what came stays with the socket until it is resumed. To be called when the server has been given the
 * connection (`connection` of an HTTP server, `secureConnection` of an HTTPS server).
 */
export function parseInSlices(socket: Socket, queues: Pick<RequestQueues, 'mayRead' | 'latest'>): void {
  const parsers = socket.listeners('data') as ((bytes: Buffer) => void)[];
  let latest: IncomingMessage | undefined;
  /** At most so much of the body of the latest request is still to come. */
  let bodyBytes = 0;
  const sliceBytes = (): number => {
    const now = queues.latest(socket);
    if (now !== latest) {
      latest = now;
      // What came of it with its head is not counted: less than a slice.
      bodyBytes = Number(now?.headers['content-length'] ?? 0);
    }
    return Math.max(SLICE_BYTES, latest?.complete ? 0 : bodyBytes);
  };
  for (const parse of parsers) socket.off('data', parse);
  socket.on('data', (bytes: Buffer) => {
    const { length } = bytes;
    for (let at = 0, end = 0; at < length && !socket.destroyed; at = end) {
      if (!queues.mayRead(socket)) {
        // Node resumes the socket after each request that it has parsed.
        socket.pause();
        socket.unshift(bytes.subarray(at));
        return;
      }
      end = Math.min(length, at + sliceBytes());
      const slice = end - at === length ? bytes : bytes.subarray(at, end);
      for (const parse of parsers) parse.call(socket, slice);
      bodyBytes -= end - at;
    }
    // The parser has made copies. What a large body brings would otherwise wait for a collection.
    if (length > SLICE_BYTES) freeMemory(bytes);
  });
}
