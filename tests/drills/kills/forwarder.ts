import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A port of this machine that leads to a Unix socket, and can be taken away and given back. */
export interface Forwarder extends AsyncDisposable {
  readonly port: number;
  /** Breaks every connection and accepts none. */
  cut(): Promise<void>;
  restore(): Promise<void>;
}

export async function startForwarder(socketPath: string): Promise<Forwarder> {
  const sockets = new Set<Socket>();
  let server: Server | undefined;
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    // Its end is what matters, and it shows in 'close'.
    socket.on('error', () => undefined);
  };
  const listen = async (port: number): Promise<number> => {
    const listening = createServer((client) => {
      const upstream = connect(socketPath);
      keep(client);
      keep(upstream);
      client.pipe(upstream).pipe(client);
      client.on('close', () => upstream.destroy());
      upstream.on('close', () => client.destroy());
    });
    await new Promise<void>((resolve) => listening.listen(port, '127.0.0.1', resolve));
    server = listening;
    return (listening.address() as AddressInfo).port;
  };
  const cut = async (): Promise<void> => {
    const closing = server;
    server = undefined;
    for (const socket of sockets) socket.destroy();
    if (closing) await new Promise((resolve) => closing.close(resolve));
  };
  const port = await listen(0);
  return {
    port,
    cut,
    async restore() {
      await listen(port);
    },
    [Symbol.asyncDispose]: cut,
  };
}
