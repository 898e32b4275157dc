import type { Socket } from 'node:net';

// Node's server parses all that it has read of a connection at once: 64 KiB, which can be hundreds of requests, and nothing of
// another connection meanwhile. In slices, it stops after the one in which too many requests came (request-queues.ts).

/** Some 75 requests of 109 bytes, or half of the longest head that Node accepts. */
const SLICE_BYTES = 8 * 1024;

/**
 * Has the server's parser read no more than 8 KiB of the connection at once, and nothing while `mayRead` is false: what came waits
 * until the socket is resumed. To be called when the server has been given the connection (`connection` of an HTTP server,
 * `secureConnection` of an HTTPS server).
 */
export function parseInSlices(socket: Socket, mayRead: (socket: Socket) => boolean): void {
  const parsers = socket.listeners('data') as ((bytes: Buffer) => void)[];
  for (const parse of parsers) socket.off('data', parse);
  socket.on('data', (bytes: Buffer) => {
    for (let at = 0; at < bytes.length && !socket.destroyed; at += SLICE_BYTES) {
      if (!mayRead(socket)) {
        // Node resumes the socket after each request that it has parsed.
        socket.pause();
        socket.unshift(bytes.subarray(at));
        return;
      }
      const isWhole = at === 0 && bytes.length <= SLICE_BYTES;
      for (const parse of parsers) parse.call(socket, isWhole ? bytes : bytes.subarray(at, at + SLICE_BYTES));
    }
  });
}
