import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { test } from 'node:test';
import { openTestEngine } from '@gatehouse/embedded/testing';
import { rowsOf } from '../testing/rows-of.ts';
import { createTelemetryClient, telemetryDatabase } from './client.ts';

test('the database is the one of the options, else of the URL, else telemetry', () => {
  assert.equal(telemetryDatabase({ socketPath: '/s' }), 'telemetry');
  assert.equal(telemetryDatabase({ url: 'http://u:p@h:8123' }), 'telemetry');
  assert.equal(telemetryDatabase({ url: 'https://u:p@h/logs' }), 'logs');
  assert.equal(telemetryDatabase({ url: 'https://u:p@h/logs' }, { database: 'other' }), 'other');
  assert.equal(telemetryDatabase({ url: 'https://u:p@h/logs' }, { database: null }), null);
  assert.throws(() => createTelemetryClient({ url: 'https://h/lo%60gs' }), RangeError);
  assert.throws(() => createTelemetryClient({ socketPath: '/s' }, { database: 'a b' }), RangeError);
});

test('one code serves a server by URL and the engine by its socket', async () => {
  await using telemetry = await openTestEngine();
  await using db = await telemetry.createDatabase();
  await using server = createServer((socket) => {
    const onward = connect(telemetry.engine.socketPath);
    socket.pipe(onward).pipe(socket);
    for (const end of [socket, onward]) end.on('error', () => socket.destroy());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const byUrl = createTelemetryClient({ url: `http://user:pass%20word@127.0.0.1:${port}/${db.database}` });
  const bySocket = createTelemetryClient(telemetry.engine, { database: db.database });
  for (const client of [byUrl, bySocket]) {
    assert.deepEqual(await client.ping(), { success: true });
    assert.deepEqual(await client.ping({ select: true }), { success: true });
    const rows = await rowsOf(client, 'SELECT currentDatabase() AS database, toInt64(1) AS money');
    assert.deepEqual(rows, [{ database: db.database, money: '1' }]);
    await client.close();
  }
});

test('a missing engine is an error with a system code, at once', async () => {
  await using client = createTelemetryClient({ socketPath: '/nowhere/engine.sock' });
  await assert.rejects(rowsOf(client, 'SELECT 1'), { code: 'ENOENT' });
  assert.equal((await client.ping()).success, false);
});

// ClickHouse's client ends idle connections by its own timers. A connection whose query was aborted at once got two, of
// which only one was cleared: the other ended the connection during a later query.
test('an aborted query does not end the connection of another', async () => {
  await using telemetry = await openTestEngine();
  await using client = createTelemetryClient(telemetry.engine, { database: null });
  for (let round = 0; round < 3; round += 1) {
    assert.deepEqual(await rowsOf(client, 'SELECT 1 AS one'), [{ one: 1 }]);
    const gone = new AbortController();
    const aborted = client.query({ query: 'SELECT 2', abort_signal: gone.signal });
    gone.abort();
    await assert.rejects(aborted);
  }
  // Longer than a connection stays idle.
  const query = 'SELECT sleep(2.5) AS slept';
  assert.deepEqual(await rowsOf(client, query), [{ slept: 0 }]);
});
