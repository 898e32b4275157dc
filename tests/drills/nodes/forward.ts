import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** Passes connections to an address on to a Unix socket: how a store that has only a socket is reached by other machines. */
export async function forward(
  at: { readonly host: string; readonly port: number },
  socketPath: string,
): Promise<AsyncDisposable> {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(socketPath);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    near.pipe(far).pipe(near);
  });
  await once(server.listen(at), 'listening');
  return {
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
