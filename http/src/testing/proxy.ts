import { once } from 'node:events';
import { createServer, request as sendRequest } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';

export interface TestProxyOptions {
  /** The status with which it refuses everything. */
  readonly refusesWith?: number;
  /** Called with the two ends of each tunnel, in turn; what it destroys is dropped. */
  readonly onTunnel?: (caller: Duplex, server: Socket) => void;
}

/** A proxy on this machine, for tests. */
export interface TestProxy extends AsyncDisposable {
  /** With a user and a password. */
  readonly url: URL;
  /** The requests, in turn: `CONNECT name:443`, `POST http://name/path`. */
  readonly asked: string[];
  /** The credentials that came with each. */
  readonly credentials: (string | undefined)[];
}

/** Starts a proxy that leads to this port of this machine, whatever name it is asked for. */
export async function startProxy(
  port: number,
  { refusesWith, onTunnel }: TestProxyOptions = {},
): Promise<TestProxy> {
  const asked: string[] = [];
  const credentials: (string | undefined)[] = [];
  const sockets = new Set<Duplex>();
  const server = createServer((request, response) => {
    const { method, url = '', headers } = request;
    asked.push(`${method} ${url}`);
    credentials.push(headers['proxy-authorization']);
    if (refusesWith !== undefined) {
      response.writeHead(refusesWith).end('refused');
      return;
    }
    const { pathname, search } = new URL(url);
    const { 'proxy-authorization': _credential, ...others } = headers;
    const onward = sendRequest(
      { port, method, path: pathname + search, headers: others, agent: false },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  });
  server.on('connect', (request, caller) => {
    asked.push(`CONNECT ${request.url}`);
    credentials.push(request.headers['proxy-authorization']);
    caller.on('error', () => undefined);
    sockets.add(caller);
    if (refusesWith !== undefined) {
      caller.end(`HTTP/1.1 ${refusesWith} Refused\r\ncontent-length: 0\r\n\r\n`);
      return;
    }
    const onward = connect(port, '127.0.0.1', () => {
      caller.write('HTTP/1.1 200 Connected\r\n\r\n');
      caller.pipe(onward).pipe(caller);
      onTunnel?.(caller, onward);
    });
    sockets.add(onward);
    onward.on('error', () => caller.destroy());
    caller.on('close', () => onward.destroy());
    onward.on('close', () => caller.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: new URL(`http://ada:p%40ss@127.0.0.1:${(server.address() as AddressInfo).port}`),
    asked,
    credentials,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The credentials of such a proxy, as a request has them. */
export const PROXY_CREDENTIALS = `Basic ${Buffer.from('ada:p@ss').toString('base64')}`;
