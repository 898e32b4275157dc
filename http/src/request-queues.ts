import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { systemClock } from '@gatehouse/concurrency';

// A client may send further requests before it has the answer to the first (pipelining). Node hands over all of them at
// once, so one connection could occupy as many handlers as it can send requests. The answers leave in the order of the
// requests anyway, so the requests of a connection are handled one after the other, and a few wait unhandled, their bodies unread.
// No client of models pipelines, so a connection that sends more is not read any further, and closes after what it has is answered.

/** Requests that may wait behind the one that is handled. */
export const MAX_WAITING_REQUESTS = 8;

export interface RequestQueues {
  /**
   * Calls `handle` at once where nothing of the connection is in flight, else once everything before it is answered.
   * Never where the connection ends first, or too many wait.
   */
  accept(request: IncomingMessage, response: ServerResponse, handle: () => void): void;
  /**
   * Decides when a `clientError` of the connection is answered: malformed bytes after the requests that came before
   * them. A request that waits in the queue gets its full time once its turn has come.
   */
  handleClientError(error: NodeJS.ErrnoException, socket: Socket, answer: () => void): void;
  /** True until too many requests of the connection have come. */
  mayRead(socket: Socket): boolean;
  /** The last request of the connection so far. */
  latest(socket: Socket): IncomingMessage | undefined;
  /** True if a request of the connection is being handled. */
  isAnswering(socket: Socket): boolean;
  /** For a request in flight: resolves when the next one of its connection has begun, at once where none waits. */
  nextBegun(request: IncomingMessage): Promise<void>;
}

interface Arrival {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly handle: () => void;
}

interface Connection {
  readonly socket: Socket;
  readonly waiting: Arrival[];
  current: Arrival | undefined;
  latest: IncomingMessage | undefined;
  /** True once too many have come: no more are read. */
  isFull: boolean;
  /** Resolves when the current request has begun. */
  begun: PromiseWithResolvers<void> | undefined;
  /** To be called when everything that came is answered. Nothing more can come then. */
  end: (() => void) | undefined;
  /** To be called when the latest request, whose time ran out while it was queued, has had its time once more. */
  overdue: { readonly latest: IncomingMessage | undefined; readonly answer: () => void } | undefined;
}

export interface RequestQueuesOptions {
  /** How long a request may take to arrive completely. */
  readonly timeoutMs: number;
}

/** The queues of the connections of one server. */
export function createRequestQueues({ timeoutMs }: RequestQueuesOptions): RequestQueues {
  const connections = new WeakMap<Socket, Connection>();

  const open = (socket: Socket): Connection => {
    const connection: Connection = {
      socket,
      waiting: [],
      current: undefined,
      latest: undefined,
      isFull: false,
      begun: undefined,
      end: undefined,
      overdue: undefined,
    };
    connections.set(socket, connection);
    // Node resumes a socket by itself when an answer has left and when a body is read.
    socket.on('resume', () => {
      if (connection.isFull) socket.pause();
    });
    socket.once('close', () => {
      connection.waiting.length = 0;
    });
    return connection;
  };

  const begin = (connection: Connection, arrival: Arrival): void => {
    connection.current = arrival;
    arrival.response.once('close', () => advance(connection));
    arrival.handle();
  };

  const advance = (connection: Connection): void => {
    const { socket, waiting } = connection;
    // After an answer that closes the connection no other can be sent, so no other request is handled.
    if (!socket.writable) {
      connection.current = undefined;
      waiting.length = 0;
      return;
    }
    const next = waiting.shift();
    if (waiting.length === 0) startOverdue(connection);
    // Current already, so that a request that arrives meanwhile does not overtake it.
    connection.current = next;
    if (!next) {
      connection.end?.();
      return;
    }
    connection.begun = Promise.withResolvers();
    // In another turn of the event loop, so that requests of other connections get in.
    setImmediate(beginUnlessClosed, connection, next);
  };

  const beginUnlessClosed = (connection: Connection, arrival: Arrival): void => {
    if (arrival.response.closed || connection.socket.destroyed) connection.current = undefined;
    else begin(connection, arrival);
    connection.begun?.resolve();
  };

  const startOverdue = (connection: Connection): void => {
    const { overdue, latest, socket } = connection;
    connection.overdue = undefined;
    if (!overdue || overdue.latest !== latest) return;
    // Where it has arrived completely, it is the headers of the next one that were late.
    const isHead = latest?.complete ?? true;
    const cancelTimeout = systemClock.after(timeoutMs, () => {
      if (isHead ? connection.latest === latest : !latest?.complete) overdue.answer();
    });
    socket.once('close', cancelTimeout);
  };

  return {
    accept(request, response, handle) {
      const { socket } = request;
      if (!socket.writable) return;
      const connection = connections.get(socket) ?? open(socket);
      if (connection.isFull) return;
      const { current, waiting } = connection;
      const last = waiting[MAX_WAITING_REQUESTS - 1];
      if (last) {
        connection.isFull = true;
        socket.pause();
        // Its answer says so, and Node closes the connection after it.
        last.response.shouldKeepAlive = false;
        return;
      }
      connection.latest = request;
      const arrival = { request, response, handle };
      if (current) waiting.push(arrival);
      else begin(connection, arrival);
    },
    handleClientError(error, socket, answer) {
      const connection = connections.get(socket);
      const isTimeout = error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
      if (!connection?.current || error.code === 'ECONNRESET' || socket.readableEnded) {
        answer();
      } else if (isTimeout && connection.isFull) {
        // It is the one too many: those before it came completely.
      } else if (isTimeout && connection.waiting.length > 0) {
        connection.overdue = { latest: connection.latest, answer };
      } else if (isTimeout || !connection.current.request.complete) {
        answer();
      } else if (!connection.end) {
        connection.end = answer;
        // Nothing of this connection is parsed any more, so Node would not report that the client left.
        socket.once('end', () => socket.destroy());
      }
    },
    mayRead: (socket) => connections.get(socket)?.isFull !== true,
    latest: (socket) => connections.get(socket)?.latest,
    isAnswering: (socket) => connections.get(socket)?.current !== undefined,
    async nextBegun(request) {
      const connection = connections.get(request.socket);
      const current = connection?.current;
      if (!current) return;
      if (current.request === request) {
        if (connection.waiting.length === 0) return;
        await new Promise((resolve) => current.response.once('close', resolve));
      }
      await connection.begun?.promise;
    },
  };
}
