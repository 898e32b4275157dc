import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { createTelemetryClient, type TelemetryClient } from '@gatehouse/store';
import { type TestTelemetry, testServers } from '@gatehouse/store/testing';

/** The way to a real telemetry store, which can be cut. */
export interface TelemetryProxy extends AsyncDisposable {
  readonly client: TelemetryClient;
  /** How many more questions get through; whoever asks after them is hung up on. */
  allow(questions: number): void;
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
    // A question is sent whole, and the next one on a connection only after its answer.
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
    allow(questions) {
      allowed = questions;
    },
    async [Symbol.asyncDispose]() {
      await client.close();
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
