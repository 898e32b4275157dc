import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { useTestDatabase } from '../testing/use-test-database.ts';
import { readConnectionUrl } from './connection-url.ts';
import { openDatabase } from './database.ts';
import { DatabaseUnavailable } from './errors.ts';
import { readServerUrls } from './servers.ts';
import { sql } from './sql.ts';
import { type NoParameters, statement } from './statement.ts';

const one = statement<NoParameters>('test-servers', sql`SELECT`);

describe('an address of several servers', () => {
  it('is one address for each, with what they share', () => {
    assert.deepEqual(
      readServerUrls('postgres://u:p%2Cw@a:1,[::1]:2,c/db?x=1&target_session_attrs=read-write'),
      {
        urls: ['a:1', '[::1]:2', 'c'].map((host) => `postgres://u:p%2Cw@${host}/db?x=1`),
        isChecked: true,
      },
    );
    assert.deepEqual(readServerUrls('postgres://a,b'), {
      urls: ['postgres://a', 'postgres://b'],
      isChecked: true,
    });
    const single = 'postgres://u:p@a:1/db?host=/run';
    assert.deepEqual(readServerUrls(single), { urls: [single], isChecked: false });
    assert.deepEqual(readServerUrls('postgres://a/db?target_session_attrs=primary'), {
      urls: ['postgres://a/db'],
      isChecked: true,
    });
  });

  it('is refused where it may lead to a standby, or a host is not one', () => {
    for (const [url, expected] of [
      ['postgres://a,b/db?target_session_attrs=prefer-standby', /may lead to a standby/],
      ['postgres://a:1,b:99999/db', /one of its hosts/],
      ['postgres://a,,b/db', /one of its hosts/],
      [`postgres://${Array.from({ length: 20 }, () => 'h').join()}/db`, /more than 16 hosts/],
    ] as const)
      assert.throws(() => readConnectionUrl(url), { name: 'ConnectionUrlError', message: expected });
  });
});

describe('a pool over several servers', async () => {
  const test = await useTestDatabase();

  /** A server whose connections can be ended and refused; as a standby, it says so to each connection. */
  async function startServer(state: { isUp: boolean; isStandby: boolean; connections: number }) {
    if (!('host' in test.address)) throw new Error('expected the parts of an address');
    const { host, port } = test.address;
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      state.connections += 1;
      if (!state.isUp) return void socket.destroy();
      const onward = connect(`${host}/.s.PGSQL.${port}`);
      sockets.add(socket.on('error', () => onward.destroy()).on('close', () => onward.destroy()));
      onward.on('error', () => socket.destroy()).on('close', () => socket.destroy());
      socket.pipe(onward);
      // What a server reports of itself is of one length, so one word can stand for the other.
      onward.on('data', (data: Buffer) => {
        const at = data.indexOf('in_hot_standby\0off\0');
        if (at < 0 || !state.isStandby) return void socket.write(data);
        const before = data.subarray(0, at - 4);
        const length = Buffer.alloc(4);
        length.writeInt32BE(data.readInt32BE(at - 4) - 1);
        const after = data.subarray(at + 'in_hot_standby\0off\0'.length);
        socket.write(Buffer.concat([before, length, Buffer.from('in_hot_standby\0on\0'), after]));
      });
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return {
      port: (server.address() as AddressInfo).port,
      cut: () => {
        for (const socket of sockets) socket.destroy();
      },
      async [Symbol.asyncDispose]() {
        for (const socket of sockets) socket.destroy();
        server.close();
        await once(server, 'close');
      },
    };
  }

  it('finds the primary, and the other one when it has moved', async () => {
    const a = { isUp: true, isStandby: true, connections: 0 };
    const b = { isUp: true, isStandby: false, connections: 0 };
    await using first = await startServer(a);
    await using second = await startServer(b);
    if (!('host' in test.address)) throw new Error('expected the parts of an address');
    const { user, database } = test.address;
    const hosts = `127.0.0.1:${first.port},127.0.0.1:${second.port}`;
    const url = `postgres://${user}@${hosts}/${database}?target_session_attrs=read-write`;
    await using pool = openDatabase({ url }, { poolSize: 2 });
    await pool.run(one);
    assert.deepEqual([a.connections, b.connections], [1, 1]);
    // Another pool of this process begins at the right one.
    await using other = openDatabase({ url }, { poolSize: 1 });
    await other.run(one);
    const own = await other.connect();
    await own.end();
    assert.deepEqual([a.connections, b.connections], [1, 3]);

    Object.assign(a, { isStandby: false });
    Object.assign(b, { isUp: false });
    second.cut();
    // What was in flight fails; what comes after does not.
    await pool.run(one).catch((error) => assert.ok(error instanceof DatabaseUnavailable));
    await pool.run(one);
    await pool.transaction((tx) => tx.run(one));
    await (await pool.connect()).end();

    Object.assign(a, { isStandby: true });
    first.cut();
    await pool.run(one).catch(() => undefined);
    await assert.rejects(pool.run(one), DatabaseUnavailable);
  });
});
