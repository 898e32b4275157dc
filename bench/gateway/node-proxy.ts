import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { parseArgs } from 'node:util';
import { createFairBatcher } from '@gatehouse/concurrency';
import { openEmbeddedPostgres } from '@gatehouse/embedded';
import { ADMISSION_BATCHES } from '@gatehouse/gateway/testing';
import pg from 'pg';
import { type Dispatcher, Pool } from 'undici';

// The least that a gateway in Node can cost: it passes each request on and the answer back, with Node's HTTP server and the
// HTTP client of the gateway, in the cheapest way that is known for both. It looks at nothing. With --data-dir it makes one
// statement of its requests first, batched as the gateway batches its admissions, that reads permission on the primary, holds
// the money and commits. It prints the port of each provider's proxy.
//
//   node bench/gateway/node-proxy.ts [--data-dir DIRECTORY] PROVIDER_PORT...

const CONNECTIONS = 2_048;
const ONE_WRITE_BYTES = 16 * 1024;
const HOLD_MICRO_PKR = 100n;
const ADMISSION_MS = 2_000;

const SCHEMA = `
  SET synchronous_commit = off;
  CREATE TABLE accounts (id integer PRIMARY KEY, deposited bigint NOT NULL, held bigint NOT NULL, spent bigint NOT NULL)
    WITH (fillfactor = 50);
  CREATE TABLE holds (id uuid PRIMARY KEY, amount bigint NOT NULL);
  INSERT INTO accounts VALUES (1, 9000000000000000, 0, 0)`;

// The requests that ended are settled, and the others get a hold if the account has credit for all of them.
const ADMISSION = `
  WITH ended AS (DELETE FROM holds WHERE id = ANY ($1) RETURNING amount),
  changed AS (
    UPDATE accounts a SET held = held + $3 * cardinality($2::uuid[]) - e.amount, spent = spent + e.amount
    FROM (SELECT coalesce(sum(amount), 0)::bigint AS amount FROM ended) AS e
    WHERE id = 1 AND deposited - spent - held >= $3 * cardinality($2::uuid[])
    RETURNING id
  )
  INSERT INTO holds (id, amount) SELECT unnest($2::uuid[]), $3 FROM changed RETURNING id`;

const opened = new AsyncDisposableStack();

interface Item {
  readonly id: string;
  readonly isEnded: boolean;
}

interface Money {
  /** Resolves once the request may go on. */
  admit(id: string): Promise<boolean>;
  end(id: string): void;
}

async function openMoney(dataDir: string): Promise<Money> {
  const server = await openEmbeddedPostgres({ dataDir });
  const { connection } = server;
  const pool = new pg.Pool({
    ...connection,
    max: ADMISSION_BATCHES.batches,
    options: '-c synchronous_commit=off',
  });
  await pool.query(SCHEMA);
  opened.defer(() => server[Symbol.asyncDispose]());
  opened.defer(() => pool.end());
  const batcher = createFairBatcher<Item, boolean>({
    ...ADMISSION_BATCHES,
    timeoutMs: ADMISSION_MS,
    isUnavailable: () => true,
    async send(items) {
      const ended = items.filter(({ isEnded }) => isEnded).map(({ id }) => id);
      const begun = items.filter(({ isEnded }) => !isEnded).map(({ id }) => id);
      const values = [ended, begun, HOLD_MICRO_PKR];
      const { rowCount } = await pool.query({ name: 'admit', text: ADMISSION, values });
      return items.map(() => rowCount === begun.length);
    },
  });
  return {
    admit: (id) => batcher.submit('', { id, isEnded: false }).answer,
    end: (id) => void batcher.submit('', { id, isEnded: true }, 'can_wait'),
  };
}

/** The answer of a provider on its way to the caller: a JSON answer in one write, a stream as it comes. */
class Relay implements Dispatcher.DispatchHandler {
  readonly #response: ServerResponse;
  readonly #onEnd: () => void;
  readonly #chunks: Buffer[] = [];
  #isStream = false;

  constructor(response: ServerResponse, onEnd: () => void) {
    this.#response = response;
    this.#onEnd = onEnd;
  }

  onRequestStart(): void {}

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    const { 'content-type': type = '', 'content-length': length } = headers;
    this.#isStream = length === undefined;
    this.#response.writeHead(status, {
      'content-type': String(type),
      ...(length !== undefined && { 'content-length': String(length) }),
    });
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isStream) this.#response.write(chunk);
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    this.#onEnd();
    const [first = Buffer.alloc(0)] = this.#chunks;
    const body = this.#chunks.length > 1 ? Buffer.concat(this.#chunks) : first;
    if (this.#isStream) this.#response.end();
    else if (body.length <= ONE_WRITE_BYTES) this.#response.end(body.toString('latin1'), 'latin1');
    else this.#response.end(body);
  }

  onResponseError(): void {
    this.#onEnd();
    this.#response.destroy();
  }
}

function startProxy(providerPort: number, money: Money | undefined): void {
  const pool = new Pool(`http://127.0.0.1:${providerPort}`, { connections: CONNECTIONS, pipelining: 1 });
  const send = (request: IncomingMessage, response: ServerResponse, body: Buffer, onEnd: () => void) => {
    const headers = ['content-type', 'application/json', 'content-length', String(body.length)];
    pool.dispatch({ method: 'POST', path: request.url ?? '/', headers, body }, new Relay(response, onEnd));
  };
  const onBody = async (request: IncomingMessage, response: ServerResponse, body: Buffer) => {
    if (!money) return send(request, response, body, () => undefined);
    const id = randomUUID();
    const isAdmitted = await money.admit(id).catch(() => false);
    if (isAdmitted) send(request, response, body, () => money.end(id));
    else response.writeHead(503).end();
  };
  const server = createServer((request, response) => {
    // A small body comes together with its head, and is whole at the end of this turn of the event loop.
    setImmediate(() => {
      if (request.complete)
        return void onBody(request, response, (request.read() as Buffer | null) ?? Buffer.alloc(0));
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => void onBody(request, response, Buffer.concat(chunks)));
    });
  });
  opened.defer(() => pool.destroy());
  opened.defer(() => {
    server.close();
    server.closeAllConnections();
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    process.stdout.write(`${providerPort} ${typeof address === 'object' ? address?.port : ''}\n`);
  });
}

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { 'data-dir': { type: 'string' } },
});
const money = options['data-dir'] === undefined ? undefined : await openMoney(options['data-dir']);
for (const port of positionals) startProxy(Number(port), money);
process.once('SIGTERM', () => void opened.disposeAsync());
