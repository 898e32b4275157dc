import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { freeMemory } from './free-memory.ts';
import type { RequestQueues } from './request-queues.ts';

// Node's server parses all that it has read of a connection at once: 64 KiB, which can be 3,600 requests, and nothing of another
// connection meanwhile. In slices, it stops after the one in which too many requests came (request-queues.ts). The rest of a body
// is no further request, so it is parsed with its last slice. Without slices, one read of requests of 18 bytes keeps the event loop
// for 480 ms; with them, for one.

/** Some 57 of the smallest requests, or the head of an ordinary one. */
const SLICE_BYTES = 1024;
const FREED_BYTES = 8 * 1024;

/**
 * Has the server's parser read no more than 1 KiB of the connection at once beside what is left of a body, and nothing once
 * too many of its requests wait. To be called when the server has been given the connection (`connection` of an HTTP server,
 * `secureConnection` of an HTTPS server).
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
    for (let at = 0, end = 0; at < length && !socket.destroyed && queues.mayRead(socket); at = end) {
      end = Math.min(length, at + sliceBytes());
      const slice = end - at === length ? bytes : bytes.subarray(at, end);
      for (const parse of parsers) parse.call(socket, slice);
      bodyBytes -= end - at;
    }
    // The parser has made copies. What a large body brings would otherwise wait for a collection.
    if (length > FREED_BYTES) freeMemory(bytes);
  });
}
