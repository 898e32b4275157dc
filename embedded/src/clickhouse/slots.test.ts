import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSlots, type Line } from './slots.ts';

const never = new AbortController().signal;

test('admits as many as may run, and the two lines by turns', async () => {
  const slots = createSlots({ running: 2, waiting: 10 });
  const releases = [await slots.enter('read', never), await slots.enter('read', never)];
  const order: string[] = [];
  const entering = (['read', 'read', 'read', 'write', 'write'] as Line[]).map(async (line, index) => {
    const release = await slots.enter(line, never);
    order.push(`${line} ${index}`);
    release();
  });
  assert.equal(slots.count(), 7);
  releases[0]?.();
  await Promise.all(entering);
  assert.deepEqual(order, ['write 3', 'read 0', 'write 4', 'read 1', 'read 2']);
  releases[1]?.();
  releases[1]?.();
  assert.equal(slots.count(), 0);
});

test('refuses what finds the lines full, with the code that the client knows', async () => {
  const slots = createSlots({ running: 1, waiting: 1 });
  const release = await slots.enter('read', never);
  const waiting = slots.enter('write', never);
  await assert.rejects(slots.enter('read', never), { code: 202 });
  release();
  (await waiting)();
  assert.equal(slots.count(), 0);
});

test('whoever leaves the line frees its place in it', async () => {
  const slots = createSlots({ running: 1, waiting: 1 });
  const release = await slots.enter('read', never);
  const leaver = new AbortController();
  const leaving = slots.enter('read', leaver.signal);
  leaver.abort();
  await assert.rejects(leaving, { code: 394 });
  const next = slots.enter('read', never);
  release();
  (await next)();
  await assert.rejects(slots.enter('read', leaver.signal), { code: 394 });
  assert.equal(slots.count(), 0);
});
