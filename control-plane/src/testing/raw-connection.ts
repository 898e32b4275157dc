import { connect } from 'node:net';

/** An answer as it came, byte for byte. */
export interface RawAnswer {
  readonly status: number;
  /** By lower-case name; the last one where a name came twice. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly text: string;
}

/**
 * Writes bytes to the service and returns all that it sends until it closes the connection: for what no client
 * library would send. The request has to make the service close, by being wrong or by asking for it.
 */
export function talk(port: number, bytes: string | Buffer): Promise<RawAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<RawAnswer>();
  const chunks: Buffer[] = [];
  // Half-open, so that it is the service which lets go.
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('data', (chunk) => chunks.push(chunk));
  socket.on('end', () => socket.destroy());
  // Cut off after its answer, the rest of what was written has nowhere to go; the answer is there all the same.
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
