import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { useTestDatabase } from '../testing/index.ts';
import { openDatabase } from './database.ts';
import { DatabaseUnavailable } from './errors.ts';
import { sql } from './sql.ts';
import { type NoParameters, statement } from './statement.ts';
import { withTransactionTimeout } from './with-transaction-timeout.ts';

const test = await useTestDatabase();

const ping = statement<NoParameters>('silent-server-ping', sql`SELECT`);
const TIMEOUTS = { connectionMs: 30_000, lockMs: 30_000, statementMs: 200 };
const ANSWER_DELAY_MS = 20;

describe('a server that stops to answer', () => {
  it('ends a transaction at its first statement without an answer, and is not asked to roll back', async () => {
    await using proxy = await startProxy();
    await using database = openDatabase(proxy.address, { poolSize: 1, timeouts: TIMEOUTS });
    await assert.rejects(
      database.transaction(async (tx) => {
        proxy.isSilent = true;
        await tx.run(ping);
      }),
      DatabaseUnavailable,
    );
    await proxy.closed;
    assert.match(proxy.sent, /BEGIN/);
    assert.doesNotMatch(proxy.sent, /ROLLBACK/);
    proxy.isSilent = false;
    assert.equal(await database.run(ping), 1);
  });

  it('is asked nothing more once the time of a transaction is over, however many statements it has', async () => {
    await using proxy = await startProxy();
    await using database = openDatabase(proxy.address, { poolSize: 1, timeouts: TIMEOUTS });
    proxy.delayMs = ANSWER_DELAY_MS;
    let statements = 0;
    await assert.rejects(
      withTransactionTimeout(database, 10 * ANSWER_DELAY_MS).transaction(async (tx) => {
        for (;;) {
          await tx.run(ping);
          statements += 1;
        }
      }),
      /DatabaseUnavailable: the transaction took too long/,
    );
    assert.ok(statements <= 10, `${statements} statements`);
  });
});

/** Before the test's server: a proxy that keeps answers back. */
async function startProxy() {
  const { address } = test;
  const server = createServer((client) => {
    const upstream = connect(`${address.host}/.s.PGSQL.${address.port}`);
    client.on('close', () => proxy.close(upstream));
    for (const socket of [client, upstream]) socket.on('error', () => undefined);
    client.on('data', (chunk) => {
      proxy.sent += chunk.toString('latin1');
      upstream.write(chunk);
    });
    upstream.on('data', async (chunk) => {
      if (proxy.delayMs > 0) await delay(proxy.delayMs);
      if (!proxy.isSilent) client.write(chunk);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { promise, resolve } = Promise.withResolvers<void>();
  const proxy = {
    address: { ...address, host: '127.0.0.1', port: (server.address() as AddressInfo).port },
    isSilent: false,
    delayMs: 0,
    /** The bytes that clients sent. */
    sent: '',
    closed: promise,
    close(upstream: Socket) {
      upstream.destroy();
      resolve();
    },
    async [Symbol.asyncDispose]() {
      await new Promise((done) => server.close(done));
    },
  };
  return proxy;
}
