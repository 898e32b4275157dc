import { connect } from 'node:net';

/** A reply, byte for byte. */
export interface RawAnswer {
  readonly status: number;
  /** By lower-case name; the last one where a name came twice. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly text: string;
}

/**
 * Writes bytes to the service and returns everything it sends until it closes the connection: for requests that no
 * client library would send. The request must make the service close, by being malformed or by asking for it.
 */
export function talk(port: number, bytes: string | Buffer): Promise<RawAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<RawAnswer>();
  const chunks: Buffer[] = [];
  // Half-open, so that the service closes first.
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('data', (chunk) => chunks.push(chunk));
  socket.on('end', () => socket.destroy());
  // If the service closes after its reply, the rest of the request fails to send; the reply still counts.
  socket.on('error', (error) => {
    if (chunks.length === 0) reject(error);
  });
  socket.on('close', () => resolve(read(Buffer.concat(chunks).toString('latin1'))));
  socket.write(bytes);
  return promise;
}

/** The lines of a request's head, with `Connection: close`. */
export function head(requestLine: string, headers: Readonly<Record<string, string>> = {}): string {
  const all = { Host: 'api.test', Connection: 'close', ...headers };
  return [requestLine, ...Object.entries(all).map(([name, value]) => `${name}: ${value}`), '', ''].join(
    '\r\n',
  );
}

function read(text: string): RawAnswer {
  const [top = '', ...rest] = text.split('\r\n\r\n');
  const [statusLine = '', ...lines] = top.split('\r\n');
  return {
    status: Number(statusLine.split(' ')[1]),
    headers: Object.fromEntries(
      lines.map((line) => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
      }),
    ),
    body: rest.join('\r\n\r\n'),
    text,
  };
}
