import { Agent, request } from 'node:http';

export interface Answer {
  readonly status: number;
  /** From sending until the whole answer was there. */
  readonly ms: number;
  readonly body: Buffer;
}

/** A signed-in client of the API over connections that stay open. */
export interface HttpClient extends Disposable {
  get(path: string): Promise<Answer>;
}

/** `connections`: how many it opens at most; as many as there are calls unless given. */
export function createHttpClient(port: number, cookie: string, connections?: number): HttpClient {
  const agent = new Agent({ keepAlive: true, maxSockets: connections ?? Number.POSITIVE_INFINITY });
  return {
    get: (path) =>
      new Promise((resolve, reject) => {
        const startedAt = performance.now();
        const outgoing = request(
          { host: '127.0.0.1', port, path: `/api${path}`, headers: { cookie }, agent },
          (incoming) => {
            const chunks: Buffer[] = [];
            incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
            incoming.on('error', reject);
            incoming.on('end', () => {
              const ms = performance.now() - startedAt;
              resolve({ status: incoming.statusCode ?? 0, ms, body: Buffer.concat(chunks) });
            });
          },
        );
        outgoing.on('error', reject);
        outgoing.end();
      }),
    [Symbol.dispose]: () => agent.destroy(),
  };
}
