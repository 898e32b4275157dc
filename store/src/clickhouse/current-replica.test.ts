import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useTestEngine } from '@gatehouse/embedded/testing';
import { type Forwarding, startHttpForwarder } from '../testing/http-forwarder.ts';
import { createTelemetryClient } from './client.ts';
import { queryCurrentReplica, REPLICA } from './current-replica.ts';

const telemetry = await useTestEngine();

/** A query over nodes that say, one after the other, who they are and whether they have all rows. */
async function query(...nodes: readonly (readonly [name: string, isCurrent: boolean] | undefined)[]) {
  let turn = 0;
  await using server = await startHttpForwarder(telemetry.engine.socketPath, ({ text }): Forwarding => {
    const node = nodes[Math.min(turn++, nodes.length - 1)];
    if (node === undefined) return { body: '' };
    const [replica, isCurrent] = node;
    return {
      body: `${JSON.stringify(text.includes('system.replicas') ? { replica, isCurrent: Number(isCurrent) } : { replica, ids: [1] })}\n`,
    };
  });
  await using client = createTelemetryClient({ url: server.url });
  const options = { database: 'd', table: 'request_log', query: 'SELECT', timeoutSeconds: 1 };
  return { row: await queryCurrentReplica(client, options), queries: server.queries.length };
}

test('answers from a node that has all rows, and from the one that said so', async () => {
  assert.deepEqual(await query(['a', true]), { row: { replica: 'a', ids: [1] }, queries: 2 });
  assert.equal((await query(['a', false], ['b', true])).queries, 3);
  // The first answer is of a node that was not asked.
  assert.equal((await query(['a', true], ['b', true], ['b', true])).queries, 4);
});

test('is an error after some tries, and on a node without the table', async () => {
  await assert.rejects(query(['a', false]), { name: 'ReplicaBehindError', message: /a is behind/ });
  const turns = Array.from({ length: 12 }, (_, index) => [`node ${index}`, true] as const);
  await assert.rejects(query(...turns), { name: 'ReplicaBehindError', message: /answered by two nodes/ });
  await assert.rejects(query(undefined), { name: 'ReplicaBehindError', message: /not replicated/ });
});

test('the engine knows the columns and functions', async () => {
  await using client = createTelemetryClient(telemetry.engine, { database: null });
  const options = {
    database: 'd',
    table: 'nothing',
    query: `SELECT ${REPLICA} AS replica`,
    timeoutSeconds: 5,
  };
  // It has no replicated table, and says so rather than that a column is missing.
  await assert.rejects(queryCurrentReplica(client, options), { name: 'ReplicaBehindError' });
});
