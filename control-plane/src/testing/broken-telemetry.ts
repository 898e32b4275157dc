import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { createTelemetryClient, type TelemetryClient } from '@gatehouse/store';

const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';

function chunk(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}

/** The ways in which a telemetry store can fail once it has taken a question, by what it does with the connection. */
export const BREAKAGES = {
  'never answers': () => undefined,
  'hangs up': (socket: Socket) => socket.destroy(),
  'stalls after the headers': (socket: Socket) => socket.write(HEAD),
  'stalls in the middle of the rows': (socket: Socket, row: string) => socket.write(HEAD + chunk(`${row}\n`)),
  'dies in the middle of the rows': (socket: Socket, row: string) =>
    socket.write(HEAD + chunk(`${row}\n${row.slice(0, 5)}`), () => socket.destroy()),
  'breaks off with an exception': (socket: Socket, row: string) =>
    socket.end(`${HEAD}${chunk(`${row}\n`)}${chunk('Code: 241. DB::Exception: too much memory\n')}0\r\n\r\n`),
  'answers with nothing': (socket: Socket) => socket.end(`${HEAD}0\r\n\r\n`),
  'answers with an error': (socket: Socket) =>
    socket.end(
      'HTTP/1.1 500 Internal Server Error\r\nContent-Length: 42\r\n\r\nCode: 241. DB::Exception: too much memory\n',
    ),
  'speaks another protocol': (socket: Socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'),
} as const satisfies Record<string, (socket: Socket, row: string) => unknown>;

export type Breakage = keyof typeof BREAKAGES;

/** No breakage: what all of them are short of. */
const WHOLE = {
  'answers with the row': (socket: Socket, row: string) => socket.end(`${HEAD}${chunk(`${row}\n`)}0\r\n\r\n`),
} as const;

export interface BrokenTelemetry extends AsyncDisposable {
  readonly client: TelemetryClient;
}

// The client gives up by itself after this; whoever asks must have done so long before.
const CLIENT_PATIENCE_MS = 20_000;

/** The answer, given that it comes while the telemetry client itself would still wait. */
export async function bounded<T>(answer: Promise<T>): Promise<T> {
  const answered = new AbortController();
  const tooLate = delay(CLIENT_PATIENCE_MS / 2, undefined, { signal: answered.signal }).then(
    () => Promise.reject(new Error('the answer waits for the telemetry store without a bound')),
    // The other came first.
    () => answer,
  );
  try {
    return await Promise.race([answer, tooLate]);
  } finally {
    answered.abort();
  }
}

/** A telemetry store that takes connections and fails in one way; `row` is what it gives of an answer before that. */
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
    { requestTimeoutMs: CLIENT_PATIENCE_MS },
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
