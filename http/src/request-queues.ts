import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

// A client may send further requests before it has the answer to the first (pipelining), and Node would hand over all
// of them at once: one connection could then keep as many of our hands busy as it can send requests. The answers leave
// in the order of the requests anyway, so the requests of a connection are handled one after the other. The others wait
// unhandled and their bodies unread. Where too many wait, nothing more is read from the connection until most are
// answered, so what a client sends beyond stays in its own buffers.

/** So many wait on a connection before it is not read any further. */
const WAITING_LIMIT = 32;
/** It is read again once so few wait. */
const RESUME_AT = 8;
// Node parses what it has read to the end, 64 KiB at most, so more than the limit may come at once: up to 3,600 of the
// smallest. They are let wait as long as there are no more of them than this on all connections together.
const EXCESS_LIMIT = 4_096;

export interface RequestQueues {
  /**
   * Calls `handle` at once where the connection has nothing under way, else once everything that came before on it is
   * answered. Never, where the connection ends before.
   */
  accept(request: IncomingMessage, response: ServerResponse, handle: () => void): void;
  /**
   * Decides when a `clientError` of the connection is answered: what is malformed, after the requests that came before
   * it. A request that we keep waiting ourselves has its time once it is its turn.
   */
  refuse(error: NodeJS.ErrnoException, socket: Socket, answer: () => void): void;
  /** Whether an answer is under way on the connection. */
  isAnswering(socket: Socket): boolean;
  /** Whether the request is under way and others of its connection wait for it. */
  isFollowed(request: IncomingMessage): boolean;
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
  isPaused: boolean;
  /** To be called when everything that came is answered: nothing more can come. */
  end: (() => void) | undefined;
  /** To be called when the latest request had its time while it was kept waiting, and has it once more. */
  overdue: { readonly latest: IncomingMessage | undefined; readonly answer: () => void } | undefined;
}

/** The queues of the connections of one server. `timeoutMs` is how long a request may take to arrive in full. */
export function createRequestQueues({ timeoutMs }: { readonly timeoutMs: number }): RequestQueues {
  const connections = new WeakMap<Socket, Connection>();
  /** How many wait beyond the limits of their connections. */
  let excess = 0;

  const open = (socket: Socket): Connection => {
    const connection: Connection = {
      socket,
      waiting: [],
      current: undefined,
      latest: undefined,
      isPaused: false,
      end: undefined,
      overdue: undefined,
    };
    connections.set(socket, connection);
    // Node itself resumes it at times: when an answer has left, or when a body is read.
    socket.on('resume', () => {
      if (connection.isPaused) socket.pause();
    });
    socket.once('close', () => forgetWaiting(connection));
    return connection;
  };

  const forgetWaiting = ({ waiting }: Connection): void => {
    excess -= Math.max(0, waiting.length - WAITING_LIMIT);
    waiting.length = 0;
  };

  const begin = (connection: Connection, arrival: Arrival): void => {
    connection.current = arrival;
    arrival.response.once('close', () => goOn(connection));
    arrival.handle();
  };

  const goOn = (connection: Connection): void => {
    const { socket, waiting } = connection;
    connection.current = undefined;
    // After an answer that closes the connection nothing more is answered, so nothing more is done.
    if (!socket.writable) {
      forgetWaiting(connection);
      return;
    }
    if (waiting.length > WAITING_LIMIT) excess -= 1;
    const next = waiting.shift();
    if (connection.isPaused && waiting.length <= RESUME_AT) {
      connection.isPaused = false;
      socket.resume();
    }
    if (waiting.length === 0) startOverdue(connection);
    if (next) begin(connection, next);
    else connection.end?.();
  };

  const startOverdue = (connection: Connection): void => {
    const { overdue, latest, socket } = connection;
    connection.overdue = undefined;
    if (!overdue || overdue.latest !== latest) return;
    // Where it has arrived in full it is the head of the next one that was late.
    const isHead = latest?.complete ?? true;
    const timer = setTimeout(() => {
      if (isHead ? connection.latest === latest : !latest?.complete) overdue.answer();
    }, timeoutMs);
    socket.once('close', () => clearTimeout(timer));
  };

  return {
    accept(request, response, handle) {
      const { socket } = request;
      if (!socket.writable) return;
      const connection = connections.get(socket) ?? open(socket);
      const arrival = { request, response, handle };
      connection.latest = request;
      if (!connection.current) {
        begin(connection, arrival);
        return;
      }
      if (connection.waiting.length >= WAITING_LIMIT) {
        if (excess >= EXCESS_LIMIT) {
          socket.destroy();
          return;
        }
        excess += 1;
      }
      connection.waiting.push(arrival);
      if (connection.waiting.length >= WAITING_LIMIT && !connection.isPaused) {
        connection.isPaused = true;
        socket.pause();
      }
    },
    refuse(error, socket, answer) {
      const connection = connections.get(socket);
      const isTimeout = error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
      if (!connection?.current || error.code === 'ECONNRESET' || socket.readableEnded) {
        answer();
      } else if (isTimeout && (connection.waiting.length > 0 || connection.isPaused)) {
        connection.overdue = { latest: connection.latest, answer };
      } else if (isTimeout || !connection.current.request.complete) {
        answer();
      } else if (!connection.end) {
        connection.end = answer;
        // Nothing of this connection is parsed any more, so Node would not tell that the client left.
        socket.once('end', () => socket.destroy());
      }
    },
    isAnswering: (socket) => connections.get(socket)?.current !== undefined,
    isFollowed(request) {
      const connection = connections.get(request.socket);
      return connection?.current?.request === request && connection.waiting.length > 0;
    },
  };
}
