import { once } from 'node:events';
import { createServer, type IncomingMessage, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ForwardedQuery {
  readonly text: string;
  readonly parameters: URLSearchParams;
}

/** The request to send on instead, or an answer of its own. */
export type Forwarding =
  | { readonly text: string }
  | { readonly status?: number; readonly body: string; readonly code?: string };

export interface HttpForwarder extends AsyncDisposable {
  readonly url: string;
  readonly queries: ForwardedQuery[];
}

/** A server over TCP in front of the engine's socket, which notes each query and may change or answer it. */
export async function startHttpForwarder(
  socketPath: string,
  forward: (query: ForwardedQuery) => Forwarding,
): Promise<HttpForwarder> {
  const queries: ForwardedQuery[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const url = new URL(request.url ?? '/', 'http://engine');
      const body = await bodyOf(request);
      const inUrl = url.searchParams.get('query');
      const query = { text: inUrl ?? body.toString(), parameters: url.searchParams };
      queries.push(query);
      const next = forward(query);
      if (!('text' in next)) {
        if (next.code !== undefined) response.setHeader('X-ClickHouse-Exception-Code', next.code);
        response.writeHead(next.status ?? 200).end(next.body);
        return;
      }
      if (inUrl !== null) url.searchParams.set('query', next.text);
      const { 'content-length': _length, 'transfer-encoding': _encoding, ...headers } = request.headers;
      const onward = send(
        { socketPath, path: url.pathname + url.search, method: request.method, headers },
        (answer) => {
          response.writeHead(answer.statusCode ?? 500, answer.headers);
          answer.pipe(response);
        },
      );
      onward.on('error', () => response.destroy());
      onward.end(inUrl === null ? next.text : body);
    })();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    queries,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}
