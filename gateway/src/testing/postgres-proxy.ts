import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { createSecureContext, type SecureContextOptions, TLSSocket } from 'node:tls';
import type { PostgresAddress } from '@gatehouse/store';

/** A PostgreSQL server that can be taken away and given back. */
export interface PostgresProxy extends AsyncDisposable {
  readonly address: PostgresAddress;
  /** Breaks every connection and accepts none. */
  cut(): Promise<void>;
  restore(): Promise<void>;
}

// How a client asks for TLS, and the answer that it gets it.
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);
const SSL_ACCEPTED = 'S';

/** With a certificate, a client that asks for TLS gets it. */
export async function startPostgresProxy(
  real: PostgresAddress,
  certificate?: Pick<SecureContextOptions, 'cert' | 'key'>,
): Promise<PostgresProxy> {
  if (!('host' in real)) throw new Error('expected the parts of an address');
  const sockets = new Set<Socket>();
  let server: Server | undefined;
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    // Its end is what matters, and it shows in 'close'.
    socket.on('error', () => {});
  };
  const listen = async (port: number) => {
    const listening = createServer(async (plain) => {
      keep(plain);
      const client = certificate ? await secured(plain, certificate) : plain;
      const upstream = real.host.startsWith('/')
        ? connect(`${real.host}/.s.PGSQL.${real.port}`)
        : connect(real.port, real.host);
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
  const cut = async () => {
    const closed = new Promise<void>((resolve) => {
      if (server) server.close(() => resolve());
      else resolve();
    });
    server = undefined;
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  const port = await listen(0);
  return {
    address: { ...real, host: '127.0.0.1', port },
    cut,
    restore: async () => {
      await listen(port);
    },
    [Symbol.asyncDispose]: cut,
  };
}

/** The connection after it has been upgraded, if the client asks for that. */
async function secured(plain: Socket, certificate: SecureContextOptions): Promise<Socket> {
  const [first] = (await once(plain, 'data').catch(() => [Buffer.alloc(0)])) as [Buffer];
  plain.pause();
  if (!first.equals(SSL_REQUEST)) {
    plain.unshift(first);
    return plain;
  }
  plain.write(SSL_ACCEPTED);
  return new TLSSocket(plain, { isServer: true, secureContext: createSecureContext(certificate) });
}
