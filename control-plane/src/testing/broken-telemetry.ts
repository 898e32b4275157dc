import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { withTimeout } from '@gatehouse/concurrency';
import { createTelemetryClient, type TelemetryClient } from '@gatehouse/store';

const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';

function chunk(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}

/** The ways in which a telemetry store can fail after it received a query, by what it does with the connection. */
export const BREAKAGES = {
  'never answers': () => undefined,
  'hangs up': (socket: Socket) => socket.destroy(),
  'stalls after the headers': (socket: Socket) => socket.write(HEAD),
  'stalls in the middle of the rows': (socket: Socket, row: string) => socket.write(HEAD + chunk(`${row}\n`)),
  'dies in the middle of the rows': (socket: Socket, row: string) =>
    socket.write(HEAD + chunk(`${row}\n${row.slice(0, 5)}`), () => socket.destroy()),
  'aborts with an exception': (socket: Socket, row: string) =>
    socket.end(`${HEAD}${chunk(`${row}\n`)}${chunk('Code: 241. DB::Exception: too much memory\n')}0\r\n\r\n`),
  'answers with nothing': (socket: Socket) => socket.end(`${HEAD}0\r\n\r\n`),
  'answers with an error': (socket: Socket) =>
    socket.end(
      'HTTP/1.1 500 Internal Server Error\r\nContent-Length: 42\r\n\r\nCode: 241. DB::Exception: too much memory\n',
    ),
  'speaks another protocol': (socket: Socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'),
} as const satisfies Record<string, (socket: Socket, row: string) => unknown>;

export type Breakage = keyof typeof BREAKAGES;

/** For comparison: a complete answer. */
const WHOLE = {
  'answers with the row': (socket: Socket, row: string) => socket.end(`${HEAD}${chunk(`${row}\n`)}0\r\n\r\n`),
} as const;

export interface BrokenTelemetry extends AsyncDisposable {
  readonly client: TelemetryClient;
}

// The client's own timeout. Callers must have given up long before.
const CLIENT_TIMEOUT_MS = 20_000;

/** The answer. Throws if it takes so long that only the telemetry client's own timeout would end it. */
export function bounded<T>(answer: Promise<T>): Promise<T> {
  return withTimeout(
    answer,
    CLIENT_TIMEOUT_MS / 2,
    () => new Error('the answer waits for the telemetry store without a timeout'),
  );
}

/** A telemetry store that accepts connections and fails in one way; `row` is the part of an answer it sends first. */
export async function startBrokenTelemetry(
  breakage: Breakage | keyof typeof WHOLE,
  row: object = {},
): Promise<BrokenTelemetry> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('data', () => ({ ...BREAKAGES, ...WHOLE })[breakage](socket, JSON.stringify(row)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const client = createTelemetryClient(
    { url: `http://127.0.0.1:${port}` },
    { requestTimeoutMs: CLIENT_TIMEOUT_MS },
  );
  return {
    client,
    async [Symbol.asyncDispose]() {
      await client.close();
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
