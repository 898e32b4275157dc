import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Clock, createTurns, systemClock } from '@gatehouse/concurrency';
import { createAllowance } from './allowance.ts';
import { createSharedPace } from './shared-pace.ts';

// A client may send further requests before it has the answer to the first (pipelining). Node hands over all of them at
// once, so one connection could occupy as many handlers as it can send requests. The answers leave in the order of the
// requests anyway, so the requests of a connection are handled one after the other. The others wait unhandled, their
// bodies unread. Where too many wait, the connection is not read any further until most are answered, so what a client
// sends beyond that stays in its own buffers. Of the requests that were queued, one begins in each turn of the event loop, so
// that requests of other connections get in. A connection on which further requests keep waiting is slowed down: answers cost
// processor time, and no client needs them faster over one connection. All slowed connections share one pace, since a
// client can open any number of them.

/** When this many wait on a connection, it is not read any further. */
const WAITING_LIMIT = 32;
/** The connection is read again once only this many wait. */
const RESUME_AT = 8;
// A slice (parse-in-slices.ts) is parsed whole, so more than the limit may come at once: up to 450 of the smallest requests. All
// connections together may have this many beyond their limits.
const EXCESS_LIMIT = 4_096;
/** The number of requests in a row that had to wait and are handled without a pause; before each later one there is one. */
const UNPAUSED_LIMIT = 32;
const PAUSE_MS = 25;
/**
 * All connections together have so many without a pause, and so many a second of them come back: else a client gets as many at
 * once as it opens connections.
 */
const UNPAUSED = { most: 2 * UNPAUSED_LIMIT, perSecond: 16 };
/** Between two requests of slowed connections, whichever they are. */
const PACE_MS = 20;

export interface RequestQueues {
  /**
   * Calls `handle` at once where nothing of the connection is in flight, else once everything before it is answered.
   * Never where the connection ends first.
   */
  accept(request: IncomingMessage, response: ServerResponse, handle: () => void): void;
  /**
   * Decides when a `clientError` of the connection is answered: malformed bytes after the requests that came before
   * them. A request that waits in the queue gets its full time once its turn has come.
   */
  handleClientError(error: NodeJS.ErrnoException, socket: Socket, answer: () => void): void;
  /** True if more of the connection may be parsed: not while many of its requests wait. */
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
  isPaused: boolean;
  /** How many requests in a row had to wait for the one before. */
  waitedInRow: number;
  /** Resolves when the current request has begun. */
  begun: PromiseWithResolvers<void> | undefined;
  /** Ends the wait of the current request for its turn among those of all slowed connections. */
  leavePace: (() => void) | undefined;
  /** To be called when everything that came is answered. Nothing more can come then. */
  end: (() => void) | undefined;
  /** To be called when the latest request, whose time ran out while it was queued, has had its time once more. */
  overdue: { readonly latest: IncomingMessage | undefined; readonly answer: () => void } | undefined;
}

export interface RequestQueuesOptions {
  /** How long a request may take to arrive completely. */
  readonly timeoutMs: number;
  /** Between requests of a connection that keeps several waiting: 25 unless given, none for 0. */
  readonly pauseMs?: number;
  /** For the pauses; the system's unless given. */
  readonly clock?: Pick<Clock, 'after' | 'monotonicMs'>;
}

/** The queues of the connections of one server. */
export function createRequestQueues({
  timeoutMs,
  pauseMs = PAUSE_MS,
  clock = systemClock,
}: RequestQueuesOptions): RequestQueues {
  const connections = new WeakMap<Socket, Connection>();
  const pace = createSharedPace(PACE_MS, clock);
  const takeUnpaused = createAllowance({ ...UNPAUSED, now: clock.monotonicMs });
  const beginInTurn = createTurns();
  /** How many wait beyond the limits of their connections. */
  let excess = 0;

  const open = (socket: Socket): Connection => {
    const connection: Connection = {
      socket,
      waiting: [],
      current: undefined,
      latest: undefined,
      isPaused: false,
      waitedInRow: 0,
      begun: undefined,
      leavePace: undefined,
      end: undefined,
      overdue: undefined,
    };
    connections.set(socket, connection);
    // Node resumes a socket by itself when an answer has left and when a body is read.
    socket.on('resume', () => {
      if (connection.isPaused) socket.pause();
    });
    socket.once('close', () => {
      forgetWaiting(connection);
      connection.leavePace?.();
    });
    return connection;
  };

  const forgetWaiting = ({ waiting }: Connection): void => {
    excess -= Math.max(0, waiting.length - WAITING_LIMIT);
    waiting.length = 0;
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
    // Current already, so that a request that arrives meanwhile does not overtake it.
    connection.current = next;
    connection.waitedInRow = next ? connection.waitedInRow + 1 : 0;
    if (next) schedule(connection, next);
    else connection.end?.();
  };

  const schedule = (connection: Connection, next: Arrival): void => {
    connection.begun = Promise.withResolvers();
    // A single request may have come before the event that ended the answer to the one before.
    const isCounted = connection.waiting.length > 0;
    const isSlowed =
      pauseMs > 0 && (connection.waitedInRow > UNPAUSED_LIMIT || (isCounted && !takeUnpaused()));
    if (isSlowed) clock.after(pauseMs, () => beginInPace(connection, next));
    else if (isCounted) beginInTurn(() => beginUnlessClosed(connection, next));
    else setImmediate(beginUnlessClosed, connection, next);
  };

  const beginInPace = (connection: Connection, arrival: Arrival): void => {
    const begin = () => beginUnlessClosed(connection, arrival);
    const leave = pace.wait(begin);
    connection.leavePace = () => {
      if (leave()) begin();
    };
    if (connection.socket.destroyed) connection.leavePace();
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
    handleClientError(error, socket, answer) {
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
        // Nothing of this connection is parsed any more, so Node would not report that the client left.
        socket.once('end', () => socket.destroy());
      }
    },
    mayRead: (socket) => connections.get(socket)?.isPaused !== true,
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
