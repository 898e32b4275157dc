import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { pino } from 'pino';
import { ByteBlocks } from '../bodies/byte-blocks.ts';
import { CallerGone } from '../errors/gateway-error.ts';
import { createManualTime, type ManualTime } from '../testing/manual-time.ts';
import { completion } from '../testing/mock-provider.ts';
import { type CountTime, onceFor } from '../tokens/count-time.ts';
import { countTokens } from '../tokens/count-tokens.ts';
import { ideographs } from '../tokens/expensive-text.fixture.ts';
import { createReaderPool, type ReaderPool } from './reader-pool.ts';

const TIME_LIMIT_MS = 20_000;
const MEDIUM = 80_000;
// However slow the machine is.
const PLENTY_MS = 60_000;
const mainThreadFor = (milliseconds: number): { readonly of: () => CountTime } => ({
  of: () => onceFor(milliseconds, () => performance.now()),
});
const body = (characters: number, end = '') =>
  Buffer.from(`{"model":"m","messages":[{"role":"user","content":"${'a '.repeat(characters / 2)}"}]}${end}`);

describe('reader pool', () => {
  let time: ManualTime;
  let readers: ReaderPool;
  beforeEach(() => {
    time = createManualTime();
    const log = pino({ level: 'silent' });
    const given = { timers: time.timers, log, largestBodyBytes: 1024 ** 2, maxThreads: 2 };
    readers = createReaderPool({
      ...given,
      countTimes: mainThreadFor(PLENTY_MS),
      lanes: { mediumCountMs: PLENTY_MS, largeCountMs: PLENTY_MS },
    });
  });
  afterEach(async () => {
    await readers.close();
    assert.equal(time.pending, 0);
  });
  const read = (owner: string, bytes: Buffer) => readers.read(owner, 'request', { endpoint: 'chat' }, bytes);

  /** A thread in each lane, and a main thread that counts nothing. */
  const withThread = ({ mediumCountMs = PLENTY_MS, largeCountMs = PLENTY_MS } = {}) => {
    const lanes = { mediumBytes: MEDIUM, mediumCountMs, largeCountMs };
    const log = pino({ level: 'silent' });
    const given = { timers: time.timers, log, largestBodyBytes: 1024 ** 2, maxThreads: 1 };
    const one = createReaderPool({ ...given, lanes, countTimes: mainThreadFor(0) });
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

  it('counts short texts here, others in a thread, and any here when no thread does', async () => {
    await using one = withThread();
    const texts = ['one two three', 'word '.repeat(4_000)];
    const tokens = await countTokens(texts);
    assert.equal(await one.countTokens('a', ['one two three']), 3);
    assert.equal(one.threadReads, 0);
    assert.equal(await one.countTokens('a', texts), tokens);
    assert.equal(one.threadReads, 1);
    const many = fillQueue(one, MEDIUM + 1);
    assert.equal(await one.countTokens('a', texts), tokens);
    await many();
    assert.equal(one.threadReads, 1 + 1 + 256);
  });

  /** As many bodies of `a` as may wait beside the one that is read. */
  const fillQueue = (pool: ReaderPool, bytes: number) => {
    const reads = Array.from({ length: 1 + 256 }, () =>
      pool.read('a', 'request', { endpoint: 'chat' }, Buffer.alloc(bytes, ' ')),
    );
    return () => Promise.all(reads.map(({ done }) => done));
  };
  it('makes the long answers of the echo where no body of an agent waits for them', async () => {
    await using one = withThread();
    // 75 KB of ideographs, many seconds in all.
    const turns = Array.from({ length: 1 + 256 }, (_, number) =>
      one.read('a', 'request', { endpoint: 'chat' }, expensiveBody(25_000, number)),
    );
    const long = { model: 'm', n: 128, messages: [{ role: 'user', content: 'word '.repeat(500) }] };
    for (const characters of [0, 8_000]) {
      const asked = Buffer.from(JSON.stringify({ ...long, user: 'x'.repeat(characters) }));
      const { result } = await one.read('a', 'echo', 'chat', asked).done;
      assert.equal(result.kind, 'answers');
    }
    assert.ok(one.waiting() > 128);
    for (const { cancel } of turns) cancel(new CallerGone());
    await Promise.allSettled(turns.map(({ done }) => done));
  });

  const expensiveBody = (characters = 20_000, number = 0) =>
    Buffer.from(`{"model":"m","messages":[{"role":"user","content":"${ideographs(characters, number)}"}]}`);
  const promptTokensOf = ({ result }: Awaited<ReturnType<typeof read>['done']>) => {
    assert.ok(result.kind === 'read');
    return result.facts.promptTokens;
  };

  it('counts a small body that is expensive to count in a thread, and to the same number', async () => {
    await using one = withThread();
    const here = await read('one', expensiveBody()).done;
    assert.equal(readers.threadReads, 0);
    // Of another organisation, for which the count is not remembered.
    const there = await one.read('a', 'request', { endpoint: 'chat' }, expensiveBody()).done;
    assert.equal(one.threadReads, 1);
    assert.deepEqual(there.result, here.result);
  });

  it('counts in the next lane what one has no time for, and takes each byte for a token of what is left', async () => {
    const exact = promptTokensOf(await read('one', expensiveBody()).done);
    await using passing = withThread({ mediumCountMs: 0 });
    const passed = await passing.read('two', 'request', { endpoint: 'chat' }, expensiveBody()).done;
    assert.equal(promptTokensOf(passed), exact);
    assert.equal(passing.threadReads, 2);
    await using hasty = withThread({ mediumCountMs: 0, largeCountMs: 0 });
    const bounded = await hasty.read('three', 'request', { endpoint: 'chat' }, expensiveBody()).done;
    const bytes = Buffer.byteLength(ideographs(20_000));
    const tokens = promptTokensOf(bounded);
    assert.ok(tokens >= bytes && tokens < bytes + 20, `${tokens} tokens, ${bytes} bytes`);
    assert.equal(hasty.threadReads, 2);
    const large = Buffer.from(
      expensiveBody()
        .toString()
        .replace('"}]}', `${'word '.repeat(10_000)}"}]}`),
    );
    assert.ok(large.length > MEDIUM);
    await hasty.read('three', 'request', { endpoint: 'chat' }, large).done;
    assert.equal(hasty.threadReads, 3, 'a large body is read in the last lane');
  });

  it('does not let large bodies hold up medium ones', async () => {
    await using one = withThread();
    const order: string[] = [];
    const ask = async (title: string, characters: number) => {
      await one.read('a', 'request', { endpoint: 'chat' }, body(characters)).done;
      order.push(title);
    };
    // Both threads have started.
    await Promise.all([ask('large', 900_000), ask('medium', 70_000)]);
    const large = Array.from({ length: 20 }, () => ask('large', 900_000));
    await ask('medium', 70_000);
    assert.ok(order.length < 2 + 20, order.join());
    await Promise.all(large);
  });

  it('takes each byte for a token where no thread counts a small body', async () => {
    await using one = withThread();
    const exact = promptTokensOf(await read('one', expensiveBody()).done);
    const many = fillQueue(one, MEDIUM);
    const most = promptTokensOf(await one.read('a', 'request', { endpoint: 'chat' }, expensiveBody()).done);
    assert.ok(most > exact && most <= Buffer.byteLength(ideographs(20_000)) + 20, `${most} tokens`);
    await many();
  });

  it('counts an answer exactly, because it may be billed, also where no thread does', async () => {
    await using one = withThread();
    const text = ideographs(20_000);
    const many = fillQueue(one, MEDIUM);
    const form = { surface: 'chat', status: 200, secret: undefined } as const;
    const bytes = Buffer.from(JSON.stringify(completion(text)));
    const { result } = await one.read('a', 'answer', form, bytes).done;
    assert.equal(result.generatedTokens, await countTokens([text]));
    await many();
    assert.equal(one.threadReads, 1 + 256);
  });

  it('takes each byte for a token of what waits half a second for the next lane', async () => {
    await using one = withThread({ mediumCountMs: 0 });
    const large = body(100, '').toString().replace('a a', ideographs(300_000));
    const busy = one.read('other', 'request', { endpoint: 'chat' }, Buffer.from(large));
    const waiting = one.read('four', 'request', { endpoint: 'chat' }, expensiveBody());
    while (one.waiting() === 0) await new Promise((resolve) => setImmediate(resolve));
    time.fire(500);
    const tokens = promptTokensOf(await waiting.done);
    assert.ok(tokens >= Buffer.byteLength(ideographs(20_000)), `${tokens} tokens`);
    const gone = new CallerGone('gone');
    busy.cancel(gone);
    await assert.rejects(busy.done, gone);
  });

  it('drops a small body that is cancelled while its tokens are counted', async () => {
    await using one = withThread();
    const gone = new CallerGone('gone');
    const others = Array.from({ length: 4 }, () =>
      one.read('a', 'request', { endpoint: 'chat' }, expensiveBody()),
    );
    // They are in the thread, or wait for it.
    while (one.waiting() < 3) await new Promise((resolve) => setImmediate(resolve));
    for (const other of others) other.cancel(gone);
    for (const { done } of others) await assert.rejects(done, gone);
    assert.equal(one.waiting(), 0);
    assert.equal(
      (await one.read('a', 'request', { endpoint: 'chat' }, expensiveBody()).done).result.kind,
      'read',
    );
    assert.equal(one.threadReads, 2);
  });

  const echoOf = (members: object) =>
    Buffer.from(
      JSON.stringify({
        messages: [{ role: 'user', content: 'Hi' }],
        max_completion_tokens: 4_096,
        ...members,
      }),
    );
  const expanding = () => {
    const schema = { type: 'array', minItems: 1_000, items: { const: 'x'.repeat(3_000) } };
    return echoOf({ response_format: { type: 'json_schema', json_schema: { schema } } });
  };

  it('reads a small body in a thread where it stands for much work', async () => {
    await readers.read('a', 'echo', 'chat', echoOf({})).done;
    assert.equal(readers.threadReads, 0);
    const { result } = await readers.read('a', 'echo', 'chat', expanding()).done;
    assert.equal(readers.threadReads, 1);
    assert.ok(result.kind === 'answers');
    assert.deepEqual([result.completionTokens, result.answers[0]?.finish], [4_096, 'length']);
  });

  it('gives the vectors of the echo as its body, from here and from a thread', async () => {
    for (const [count, threadReads] of [
      [2, 0],
      [100, 1],
    ] as const) {
      const input = Array.from({ length: count }, (_, at) => `text ${at}`);
      const bytes = Buffer.from(JSON.stringify({ input, dimensions: 64 }));
      const { result, body: vectors } = await readers.read('a', 'echo', 'embeddings', bytes).done;
      assert.deepEqual([result.kind, vectors.length], ['vectors', count * 64 * 4]);
      assert.equal(readers.threadReads, threadReads);
    }
  });

  it('does not let one organisation’s small bodies that stand for much work hold up another’s', async () => {
    await using one = withThread();
    const order: string[] = [];
    const done = ['a', 'a', 'a', 'a', 'b'].map((owner) =>
      one.read(owner, 'echo', 'chat', expanding()).done.then(() => order.push(owner)),
    );
    await Promise.all(done);
    assert.deepEqual([order.slice(0, 3).includes('b'), order.length], [true, 5], order.join());
  });

  it('runs its threads at a lower priority than the main thread, which keeps its own', {
    skip: process.platform !== 'linux' && 'priorities of threads are Linux',
  }, async () => {
    const before = new Set(await readdir('/proc/self/task'));
    await read('a', body(100_000)).done;
    const started = (await readdir('/proc/self/task')).filter((thread) => !before.has(thread));
    const stats = await Promise.all(
      started.map((thread) => readFile(`/proc/self/task/${thread}/stat`, 'latin1').catch(() => '')),
    );
    // The 19th field, counted behind the name, which may have spaces.
    const priorities = stats.map((stat) => Number(stat.slice(stat.lastIndexOf(')')).split(' ')[17]));
    assert.equal(priorities.filter((priority) => priority === 10).length, 1);
    const main = await readFile(`/proc/self/task/${process.pid}/stat`, 'latin1');
    assert.notEqual(main.slice(main.lastIndexOf(')')).split(' ')[17], '10');
  });

  it('does not let one organisation’s many bodies hold up another’s', async () => {
    // With one thread they end in the order in which they began.
    await using one = withThread();
    const order: string[] = [];
    const done = ['a', 'a', 'a', 'a', 'b'].map((owner) =>
      one.read(owner, 'request', { endpoint: 'chat' }, body(70_000)).done.then(() => order.push(owner)),
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
      await assert.rejects(poor.read('a', 'request', { endpoint: 'chat' }, body(900_000)).done, {
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
