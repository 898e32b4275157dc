import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { pino } from 'pino';
import { ByteBlocks } from '../bodies/byte-blocks.ts';
import { CallerGone } from '../http/gateway-error.ts';
import { createManualTime, type ManualTime } from '../testing/manual-time.ts';
import { completion } from '../testing/mock-provider.ts';
import { countTokens } from '../tokens/count-tokens.ts';
import { ideographs } from '../tokens/dear-text.fixture.ts';
import type { CountTime } from './count-time.ts';
import { createReaderPool, type ReaderPool } from './reader-pool.ts';

const TIME_LIMIT_MS = 20_000;
// However slow the machine is, all is counted at once.
const PLENTY_MS = 60_000;
const plenty: CountTime = { available: () => PLENTY_MS, used: () => undefined };
const none: CountTime = { available: () => 0, used: () => undefined };
const body = (characters: number, end = '') =>
  Buffer.from(`{"model":"m","messages":[{"role":"user","content":"${'a '.repeat(characters / 2)}"}]}${end}`);

describe('reader pool', () => {
  let time: ManualTime;
  let readers: ReaderPool;
  beforeEach(() => {
    time = createManualTime();
    const log = pino({ level: 'silent' });
    const given = { timers: time.timers, log, largestBodyBytes: 1024 ** 2, maxThreads: 2 };
    readers = createReaderPool({ ...given, countTime: plenty, countMs: PLENTY_MS });
  });
  afterEach(async () => {
    await readers.close();
    assert.equal(time.pending, 0);
  });
  const read = (owner: string, bytes: Buffer) =>
    readers.read(owner, 'request', { endpoint: 'chat', owner }, bytes);

  const withThread = (options: { readonly countTime?: CountTime; readonly countMs?: number }) => {
    const log = pino({ level: 'silent' });
    const given = { timers: time.timers, log, largestBodyBytes: 1024 ** 2, maxThreads: 1 };
    const one = createReaderPool({ ...given, ...options });
    return Object.assign(one, { [Symbol.asyncDispose]: () => one.close() });
  };

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
    // Its memory was moved there and back, and never copied.
    assert.equal(bytes.length, 0);
    assert.ok(large.result.facts.promptTokens > 10_000);
    assert.deepEqual(
      { ...large.result.facts, promptTokens: 0, layout: 0 },
      { ...small.result.facts, promptTokens: 0, layout: 0 },
    );
    assert.deepEqual(large.result.facts.members, small.result.facts.members);
  });

  it('refuses a large body for the reason for which it refuses a small one', async () => {
    const { result: small } = await read('a', body(10, 'x')).done;
    const { result: large } = await read('a', body(100_000, 'x')).done;
    assert.equal(small.kind, 'refused');
    assert.deepEqual(large, small);
  });

  it('does not give back the bytes of what is refused', async () => {
    for (const size of [10, 100_000]) assert.equal((await read('a', body(size, 'x')).done).body.length, 0);
    const form = { surface: 'chat', secret: undefined } as const;
    const answer = (status: number) =>
      readers.read('a', 'answer', { ...form, status }, Buffer.alloc(100_000, 'x')).done;
    assert.equal((await answer(200)).body.length, 0);
    // The provider's own error is passed on.
    assert.equal((await answer(400)).body.length, 100_000);
  });

  it('reads answers like requests: the facts of a large one in blocks, and its bytes redacted', async () => {
    const secret = 'sk-platform-0123456789';
    const answer = async (words: number) => {
      const text = `${'word '.repeat(words)}${secret}`;
      const blocks = new ByteBlocks(undefined, 1024 ** 2);
      blocks.append(Buffer.from(JSON.stringify(completion(text))));
      const form = { surface: 'chat', status: 200, secret } as const;
      return readers.read('a', 'answer', form, blocks).done;
    };
    const small = await answer(100);
    assert.equal(readers.threadReads, 0);
    const large = await answer(50_000);
    assert.equal(readers.threadReads, 1);
    const tokens = large.result.generatedTokens - small.result.generatedTokens;
    assert.deepEqual(large.result, { ...small.result, generatedTokens: large.result.generatedTokens });
    assert.equal(tokens, 50_000 - 100);
    for (const { body: bytes } of [small, large]) {
      assert.ok(!bytes.includes(secret));
      assert.ok(bytes.includes('[redacted]'));
    }
  });

  it('counts for a moment here, then in a thread, and here again when no thread does', async () => {
    await using one = withThread({ countTime: none });
    const texts = ['one two three', 'word '.repeat(4_000)];
    const tokens = await countTokens(texts);
    assert.equal(await one.countTokens('a', ['one two three']), 3);
    assert.equal(one.threadReads, 0);
    assert.equal(await one.countTokens('a', texts), tokens);
    assert.ok(one.threadReads > 0);
    const many = Array.from({ length: 1 + 256 }, () =>
      one.read('a', 'request', { endpoint: 'chat', owner: 'a' }, Buffer.alloc(70_000, ' ')),
    );
    const reads = one.threadReads;
    assert.equal(await one.countTokens('a', texts), tokens);
    await Promise.all(many.map(({ done }) => done));
    assert.equal(one.threadReads, reads + many.length - 1, 'the queue was full');
  });

  it('counts a small body that is dear to count in a thread, and to the same number', async () => {
    await using one = withThread({ countTime: none });
    const bytes = Buffer.from(`{"model":"m","messages":[{"role":"user","content":"${ideographs(20_000)}"}]}`);
    const here = await read('a', Buffer.from(bytes)).done;
    assert.equal(readers.threadReads, 0);
    const there = await one.read('a', 'request', { endpoint: 'chat', owner: 'a' }, bytes).done;
    assert.ok(one.threadReads > 0);
    assert.deepEqual(there.result, here.result);
  });

  it('lets others get in between while it counts the tokens of one body', async () => {
    await using one = withThread({ countTime: none });
    const order: string[] = [];
    const ask = async (owner: string, text: string) => {
      const bytes = Buffer.from(`{"model":"m","messages":[{"role":"user","content":"${text}"}]}`);
      await one.read(owner, 'request', { endpoint: 'chat', owner }, bytes).done;
      order.push(owner);
    };
    // A second of the thread's time each, and a few milliseconds.
    const dear = ['a', 'b', 'c'].map((owner) => ask(owner, ideographs(300_000)));
    await ask('victim', 'word '.repeat(20_000));
    assert.deepEqual(order, ['victim']);
    await Promise.all(dear);
  });

  it('runs its threads at a lower priority than the main thread, which keeps its own', {
    skip: process.platform !== 'linux' && 'priorities of threads are Linux',
  }, async () => {
    const priorities = async () => {
      const threads = await readdir('/proc/self/task');
      const stats = await Promise.all(
        threads.map((thread) => readFile(`/proc/self/task/${thread}/stat`, 'latin1').catch(() => '')),
      );
      // The 19th field, counted behind the name, which may have spaces.
      return stats.map((stat) => Number(stat.slice(stat.lastIndexOf(')')).split(' ')[17]));
    };
    const lowered = (all: readonly number[]) => all.filter((priority) => priority === 10).length;
    const before = lowered(await priorities());
    await read('a', body(100_000)).done;
    const after = await priorities();
    assert.equal(lowered(after), before + 1);
    const main = await readFile(`/proc/self/task/${process.pid}/stat`, 'latin1');
    assert.notEqual(main.slice(main.lastIndexOf(')')).split(' ')[17], '10');
  });

  it('does not let one organisation’s many bodies hold up another’s', async () => {
    // With one thread they end in the order in which they began.
    await using one = withThread({ countMs: PLENTY_MS });
    const order: string[] = [];
    const done = ['a', 'a', 'a', 'a', 'b'].map((owner) =>
      one
        .read(owner, 'request', { endpoint: 'chat', owner }, body(70_000))
        .done.then(() => order.push(owner)),
    );
    await Promise.all(done);
    assert.deepEqual(order, ['a', 'b', 'a', 'a', 'a']);
  });

  it('ends what takes too long, and reads on', async () => {
    const slow = read('a', body(1_000_000));
    time.fire(TIME_LIMIT_MS);
    await assert.rejects(slow.done, { failure: 'not_read_in_time' });
    assert.equal((await read('a', body(100_000)).done).result.kind, 'read');
  });

  it('refuses what takes more memory than a thread has, and reads on', async () => {
    // Not by a body, which is bounded before it is parsed: the thread of these readers has too little for anything.
    const poor = createReaderPool({
      timers: time.timers,
      log: pino({ level: 'silent' }),
      largestBodyBytes: 1024 ** 2,
      baseHeapMb: 4,
    });
    for (let round = 0; round < 2; round += 1) {
      await assert.rejects(poor.read('a', 'request', { endpoint: 'chat', owner: 'a' }, body(900_000)).done, {
        failure: 'too_large',
      });
    }
    await poor.close();
  });

  it('drops what was cancelled', async () => {
    const gone = new CallerGone('gone');
    const reads = Array.from({ length: 4 }, () => read('a', body(100_000)));
    for (const one of reads) one.cancel(gone);
    for (const one of reads) await assert.rejects(one.done, gone);
    await read('b', body(100_000)).done;
    assert.ok(readers.threadReads <= 3, `${readers.threadReads}`);
  });

  it('bounds the queue of an organisation, and does not refuse another', async () => {
    const reads = Array.from({ length: 2 + 256 }, () => read('a', Buffer.alloc(70_000, ' ')));
    await assert.rejects(read('a', body(70_000)).done, { failure: 'queue_full' });
    assert.equal((await read('b', body(70_000)).done).result.kind, 'read');
    await Promise.all(reads.map(({ done }) => done));
  });
});
