import { Agent, request } from 'node:http';

const agent = new Agent({ keepAlive: true });

/** Sends a request over a connection that is open already, if there is one: its status, and the milliseconds until the
 *  whole answer was there. */
export function timedRequest(
  port: number,
  method: string,
  path: string,
  { body, headers = {} }: { body?: string; headers?: Record<string, string> } = {},
): Promise<{ status: number; ms: number }> {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now();
    const outgoing = request({ host: '127.0.0.1', port, method, path, headers, agent }, (incoming) => {
      incoming.resume();
      incoming.on('end', () =>
        resolve({ status: incoming.statusCode ?? 0, ms: performance.now() - startedAt }),
      );
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** Closes the connections that are kept open. */
export function closeConnections(): void {
  agent.destroy();
}
