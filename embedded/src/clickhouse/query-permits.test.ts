import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createQueryPermits, type QueryKind } from './query-permits.ts';

const never = new AbortController().signal;

test('grants as many as may run, and to the two queues alternately', async () => {
  const permits = createQueryPermits({ running: 2, waiting: 10 });
  const releases = [await permits.acquire('read', never), await permits.acquire('read', never)];
  const order: string[] = [];
  const acquiring = (['read', 'read', 'read', 'write', 'write'] as QueryKind[]).map(async (kind, index) => {
    const release = await permits.acquire(kind, never);
    order.push(`${kind} ${index}`);
    release();
  });
  assert.equal(permits.count(), 7);
  releases[0]?.();
  await Promise.all(acquiring);
  assert.deepEqual(order, ['write 3', 'read 0', 'write 4', 'read 1', 'read 2']);
  releases[1]?.();
  releases[1]?.();
  assert.equal(permits.count(), 0);
});

test('throws when the queues are full, with the code that the client knows', async () => {
  const permits = createQueryPermits({ running: 1, waiting: 1 });
  const release = await permits.acquire('read', never);
  const waiting = permits.acquire('write', never);
  await assert.rejects(permits.acquire('read', never), { code: 202 });
  release();
  (await waiting)();
  assert.equal(permits.count(), 0);
});

test('a caller that aborts leaves the queue', async () => {
  const permits = createQueryPermits({ running: 1, waiting: 1 });
  const release = await permits.acquire('read', never);
  const abort = new AbortController();
  const aborted = permits.acquire('read', abort.signal);
  abort.abort();
  await assert.rejects(aborted, { code: 394 });
  const next = permits.acquire('read', never);
  release();
  (await next)();
  await assert.rejects(permits.acquire('read', abort.signal), { code: 394 });
  assert.equal(permits.count(), 0);
});
