import { once } from 'node:events';
import {
  type AddressInfo,
  connect,
  createServer,
  type NetConnectOpts,
  type Server,
  type Socket,
} from 'node:net';

// A TCP proxy before a store or a provider, which can be made slow, refused or black-holed while connections are open.

export type Fault =
  | { readonly kind: 'none' }
  /** Answers of the server arrive this much later. */
  | { readonly kind: 'slow'; readonly delayMs: number }
  /** Every connection breaks, and none is accepted. */
  | { readonly kind: 'refused' }
  /** Connections are accepted and stay open; no byte goes through. What was sent meanwhile arrives afterwards. */
  | { readonly kind: 'black-holed' };

export interface FaultProxy extends AsyncDisposable {
  readonly port: number;
  set(fault: Fault): Promise<void>;
}

/** Listens on a free port of this machine unless told where. */
export async function startFaultProxy(
  target: NetConnectOpts,
  { host = '127.0.0.1', port: wantedPort = 0 }: { readonly host?: string; readonly port?: number } = {},
): Promise<FaultProxy> {
  const pairs = new Set<Pair>();
  let fault: Fault = { kind: 'none' };
  let server: Server | undefined;
  const listen = async (wanted: number): Promise<number> => {
    const listening = createServer({ pauseOnConnect: true }, (client) => {
      const pair: Pair = new Pair(client, target, () => pairs.delete(pair));
      pairs.add(pair);
      pair.apply(fault);
    });
    listening.listen(wanted, host);
    await once(listening, 'listening');
    server = listening;
    return (listening.address() as AddressInfo).port;
  };
  const refuse = async () => {
    const closed = server && new Promise((resolve) => server?.close(resolve));
    server = undefined;
    for (const pair of pairs) pair.break();
    await closed;
  };
  const port = await listen(wantedPort);
  return {
    port,
    async set(wanted) {
      fault = wanted;
      if (fault.kind === 'refused') return refuse();
      if (!server) await listen(port);
      for (const pair of pairs) pair.apply(fault);
    },
    [Symbol.asyncDispose]: refuse,
  };
}

/** A connection of a client, and the one to the server that it leads to. */
class Pair {
  readonly #client: Socket;
  readonly #target: NetConnectOpts;
  readonly #onClose: () => void;
  /** Undefined until the first byte may go through. */
  #server: Socket | undefined;
  #fault: Fault = { kind: 'none' };
  readonly #answers: { readonly chunk: Buffer; readonly dueAtMs: number }[] = [];
  #timer: NodeJS.Timeout | undefined;
  #hasEnded = false;

  constructor(client: Socket, target: NetConnectOpts, onClose: () => void) {
    this.#client = client;
    this.#target = target;
    this.#onClose = onClose;
    // Its end is what matters, and it shows in 'close'.
    client.on('error', () => undefined);
    client.on('close', () => this.break());
    client.on('data', (chunk) => {
      if (this.#server?.write(chunk) === false) client.pause();
    });
  }

  apply(fault: Fault): void {
    this.#fault = fault;
    if (fault.kind === 'black-holed') {
      this.#client.pause();
      this.#server?.pause();
      clearTimeout(this.#timer);
      return;
    }
    this.#server ??= this.#connect();
    this.#client.resume();
    this.#server.resume();
    this.#deliver();
  }

  break(): void {
    clearTimeout(this.#timer);
    this.#client.destroy();
    this.#server?.destroy();
    this.#onClose();
  }

  #connect(): Socket {
    const server = connect(this.#target);
    server.on('error', () => undefined);
    server.on('drain', () => {
      if (this.#fault.kind !== 'black-holed') this.#client.resume();
    });
    server.on('data', (chunk) => {
      const delayMs = this.#fault.kind === 'slow' ? this.#fault.delayMs : 0;
      this.#answers.push({ chunk, dueAtMs: performance.now() + delayMs });
      this.#deliver();
    });
    server.on('close', () => {
      this.#hasEnded = true;
      this.#deliver();
    });
    return server;
  }

  /** Passes on what is due. */
  #deliver(): void {
    clearTimeout(this.#timer);
    if (this.#fault.kind === 'black-holed') return;
    for (;;) {
      const [first] = this.#answers;
      if (!first) break;
      const leftMs = this.#fault.kind === 'slow' ? first.dueAtMs - performance.now() : 0;
      if (leftMs > 0) {
        this.#timer = setTimeout(() => this.#deliver(), leftMs);
        return;
      }
      this.#answers.shift();
      this.#client.write(first.chunk);
    }
    if (this.#hasEnded) this.#client.end();
  }
}
