import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { pino } from 'pino';
import { CallerGone } from '../http/refusal.ts';
import { createManualTime, type ManualTime } from '../testing/manual-time.ts';
import { type BodyReaders, createBodyReaders } from './body-readers.ts';

const TIME_LIMIT_MS = 20_000;
const body = (characters: number, end = '') =>
  Buffer.from(`{"model":"m","messages":[{"role":"user","content":"${'a '.repeat(characters / 2)}"}]}${end}`);

describe('body readers', () => {
  let time: ManualTime;
  let readers: BodyReaders;
  beforeEach(() => {
    time = createManualTime();
    const log = pino({ level: 'silent' });
    readers = createBodyReaders({ timers: time.timers, log, bodyLimitBytes: 1024 ** 2 });
  });
  afterEach(async () => {
    await readers.close();
    assert.equal(time.pending, 0);
  });
  const read = (owner: string, bytes: Buffer) => readers.read(owner, 'request', 'chat', bytes);

  it('reads a small body here and a large one in a thread, with the same outcome', async () => {
    const small = await read('a', body(10_000)).done;
    assert.equal(readers.threadReads, 0);
    assert.ok(small.result.kind === 'read');
    const bytes = body(100_000);
    const copy = Buffer.from(bytes);
    const large = await read('a', bytes).done;
    assert.equal(readers.threadReads, 1);
    assert.ok(large.result.kind === 'read');
    assert.ok(large.body.equals(copy));
    // Its memory went there and back, and was never copied.
    assert.equal(bytes.length, 0);
    assert.ok(large.result.facts.promptTokens > 10_000);
    assert.deepEqual(
      { ...large.result.facts, promptTokens: 0, layout: 0 },
      { ...small.result.facts, promptTokens: 0, layout: 0 },
    );
    assert.deepEqual(large.result.facts.members, small.result.facts.members);
  });

  it('tells of a large body that cannot be used as of a small one', async () => {
    const { result: small } = await read('a', body(10, 'x')).done;
    const { result: large } = await read('a', body(100_000, 'x')).done;
    assert.equal(small.kind, 'refused');
    assert.deepEqual(large, small);
  });

  it('does not let one organisation’s many bodies hold up another’s', async () => {
    const order: string[] = [];
    const done = ['a', 'a', 'a', 'a', 'a', 'a', 'b'].map((owner) =>
      read(owner, body(70_000)).done.then(() => order.push(owner)),
    );
    await Promise.all(done);
    // Two are in progress when it comes; it is the next.
    assert.ok(order.indexOf('b') <= 3, order.join());
  });

  it('ends what takes too long, and reads on', async () => {
    const slow = read('a', body(1_000_000));
    time.fire(TIME_LIMIT_MS);
    await assert.rejects(slow.done, { status: 503 });
    assert.equal((await read('a', body(100_000)).done).result.kind, 'read');
  });

  it('413 for what takes more memory than a thread has, and reads on', async () => {
    // Not by a body, which is bounded before it is parsed: the thread of these readers has too little for anything.
    const poor = createBodyReaders({
      timers: time.timers,
      log: pino({ level: 'silent' }),
      bodyLimitBytes: 1024 ** 2,
      baseHeapMb: 4,
    });
    for (let round = 0; round < 2; round += 1) {
      await assert.rejects(poor.read('a', 'request', 'chat', body(900_000)).done, { status: 413 });
    }
    await poor.close();
  });

  it('forgets what nobody waits for any more', async () => {
    const gone = new CallerGone('gone');
    const reads = Array.from({ length: 4 }, () => read('a', body(100_000)));
    for (const one of reads) one.cancel(gone);
    for (const one of reads) await assert.rejects(one.done, gone);
    await read('b', body(100_000)).done;
    assert.ok(readers.threadReads <= 3, `${readers.threadReads}`);
  });

  it('503 past the most that an organisation may have waiting, and none for another', async () => {
    const reads = Array.from({ length: 2 + 256 }, () => read('a', Buffer.alloc(70_000, ' ')));
    await assert.rejects(read('a', body(70_000)).done, { status: 503 });
    assert.equal((await read('b', body(70_000)).done).result.kind, 'read');
    await Promise.all(reads.map(({ done }) => done));
  });
});
