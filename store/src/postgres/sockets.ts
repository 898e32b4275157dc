import { Socket } from 'node:net';
import { finishesWithin } from '@gatehouse/concurrency';

/** The sockets of a pool, so that they can be closed when the server at their other end does not answer. */
export interface Sockets {
  /** The driver's option `stream`. */
  open(): Socket;
  /** Waits for `ended`, which resolves when all of them are closed, and closes them after `timeoutMs`. */
  closeAfter(ended: Promise<unknown>, timeoutMs: number): Promise<void>;
}

export function trackSockets(): Sockets {
  const sockets = new Set<Socket>();
  return {
    open() {
      const socket = new Socket();
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      return socket;
    },
    async closeAfter(ended, timeoutMs) {
      // The driver says goodbye and waits for the server to hang up, which one behind a partition never does.
      if (!(await finishesWithin(ended, timeoutMs))) for (const socket of sockets) socket.destroy();
      await ended;
    },
  };
}
