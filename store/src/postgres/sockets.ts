import { Socket } from 'node:net';
import { finishesWithin } from '@gatehouse/concurrency';

/** The sockets of a pool, so that they can be closed when the server at their other end does not answer. */
export interface Sockets {
  /** The driver's option `stream`. */
  open(): Socket;
  /** Waits for `ended` and until their servers have closed them; closes them itself after `timeoutMs`. */
  closeAfter(ended: Promise<unknown>, timeoutMs: number): Promise<void>;
}

export function trackSockets(): Sockets {
  const sockets = new Map<Socket, Promise<void>>();
  return {
    open() {
      const socket = new Socket();
      const { promise, resolve } = Promise.withResolvers<void>();
      sockets.set(socket, promise);
      socket.once('close', () => {
        sockets.delete(socket);
        resolve();
      });
      return socket;
    },
    async closeAfter(ended, timeoutMs) {
      // The driver says goodbye, and its pool has ended then. The server hangs up, but one behind a partition never does.
      const closed = ended.then(() => Promise.all(sockets.values()));
      if (!(await finishesWithin(closed, timeoutMs))) for (const socket of sockets.keys()) socket.destroy();
      await ended;
    },
  };
}
