import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { createTelemetryClient, type TelemetryClient } from '@gatehouse/store';
import { type TestTelemetry, testServers } from '@gatehouse/store/testing';

/** A proxy to a real telemetry store that can hang up. */
export interface TelemetryProxy extends AsyncDisposable {
  readonly client: TelemetryClient;
  /** How many more queries get through; after them, the proxy hangs up. */
  allow(queries: number): void;
}

export async function startTelemetryProxy({ database }: TestTelemetry): Promise<TelemetryProxy> {
  const { clickhouse } = await testServers();
  if (!('socketPath' in clickhouse)) throw new Error('the engine of the tests has a socket');
  const sockets = new Set<Socket>();
  let allowed = Number.POSITIVE_INFINITY;
  const server = createServer((near) => {
    const far = connect(clickhouse.socketPath);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        near.destroy();
        far.destroy();
      });
    }
    // A query is sent whole, and the next one on a connection only after its answer.
    near.on('data', (bytes) => {
      if (bytes.includes('POST /') && allowed-- <= 0) near.destroy();
      else far.write(bytes);
    });
    far.pipe(near);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const client = createTelemetryClient({ url: `http://127.0.0.1:${port}` }, { database });
  return {
    client,
    allow(queries) {
      allowed = queries;
    },
    async [Symbol.asyncDispose]() {
      await client.close();
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
