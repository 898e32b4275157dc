import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { systemClock } from '@gatehouse/concurrency';
import { pino } from 'pino';
import { waitUntil } from '../journal/testing/wait-until.ts';
import { HELLO_BYTES, QUESTION_BYTES, writeQuestion } from './keeper-protocol.ts';
import { type KeptRatesOptions, openKeptRates } from './kept-rates.ts';
import { openRateKeeper, type RateKeeper } from './rate-keeper.ts';
import type { SharedRates } from './shared-rates.ts';

const PROCESSES = 4;

describe('the rate keeper', () => {
  const secret = randomBytes(HELLO_BYTES);
  let stack: AsyncDisposableStack;
  let path: string;
  let nowMs = 1_000_000;
  let keeper: RateKeeper;
  let events: unknown[];
  const log = pino({ base: null }, { write: (line: string) => events.push(JSON.parse(line).event) });
  // No busy machine takes this long to read a greeting.
  const openKeeper = (helloTimeoutMs = 60_000) =>
    openRateKeeper({ path, secret, monotonicMs: () => nowMs, helloTimeoutMs });

  beforeEach(async () => {
    stack = new AsyncDisposableStack();
    events = [];
    const directory = await mkdtemp(join(tmpdir(), 'gatehouse-rates-'));
    stack.defer(() => rm(directory, { recursive: true }));
    path = join(directory, 'rates.sock');
    keeper = await openKeeper();
    stack.defer(() => keeper[Symbol.asyncDispose]());
  });
  afterEach(() => stack.disposeAsync());

  /** The rates of a gateway process. Its own clock is the keeper's. */
  const openProcess = async (more: Partial<KeptRatesOptions> = {}): Promise<SharedRates> => {
    const rates = await openKeptRates({
      path,
      secret: secret.toString('hex'),
      processes: PROCESSES,
      clock: { ...systemClock, monotonicMs: () => nowMs },
      log,
      ...more,
    });
    stack.defer(() => rates.close());
    return rates;
  };
  const takeAll = async (rates: SharedRates, key: string, n: number, limit: number) => {
    const decisions = await Promise.all(Array.from({ length: n }, () => rates.take(key, limit)));
    return decisions.filter(({ isAllowed }) => isAllowed).length;
  };
  const logged = (event: string) => waitUntil(event, () => events.includes(event));
  const connected = async (hello: Buffer): Promise<Socket> => {
    const socket = connect(path);
    // The keeper may end it while something is on its way.
    socket.on('error', () => undefined);
    stack.defer(() => void socket.destroy());
    await once(socket, 'connect');
    socket.write(hello);
    return socket;
  };

  it('allows the limit once, whichever processes ask, and tells each how the key stands', async () => {
    const [one, other] = [await openProcess(), await openProcess()];
    const key = randomUUID();
    const allowed = await Promise.all([one, other].map((rates) => takeAll(rates, key, 80, 100)));
    assert.equal((allowed[0] ?? 0) + (allowed[1] ?? 0), 100);
    assert.deepEqual(await one.peek(key, 100), {
      countedUs: 0,
      isAllowed: false,
      limit: 100,
      remaining: 0,
      resetMs: 60_000,
      retryAfterMs: 60_000,
    });
    nowMs += 59_999;
    assert.equal(await takeAll(other, key, 1, 100), 0);
    nowMs += 1;
    assert.equal(await takeAll(other, key, 101, 100), 100);
    assert.deepEqual(await one.peek(randomUUID(), 7), {
      countedUs: 0,
      isAllowed: true,
      limit: 7,
      remaining: 7,
      resetMs: 0,
      retryAfterMs: 0,
    });
  });

  it('never allows more than the limit in any 60 seconds over processes, wherever they begin', async () => {
    const processes = [await openProcess(), await openProcess(), await openProcess()];
    const key = randomUUID();
    const allowed: number[] = [];
    // A fixed walk of steps from 0 to 4 seconds, for an hour; each step a burst at one or several of them.
    for (let step = 0; step < 1_800; step += 1) {
      nowMs += (step * 7_919) % 4_001;
      const asked = processes.filter((_, index) => step % (index + 1) === 0);
      const counts = await Promise.all(asked.map((rates) => takeAll(rates, key, 1 + (step % 4), 10)));
      for (const count of counts) allowed.push(...Array.from({ length: count }, () => nowMs));
    }
    assert.ok(allowed.length > 500);
    allowed.forEach((time, index) => {
      const eleventh = allowed[index + 10];
      if (eleventh !== undefined) assert.ok(eleventh - time >= 60_000);
    });
  });

  it('counts on for a process that takes the place of a dead one', async () => {
    const key = randomUUID();
    const dead = await openProcess();
    assert.equal(await takeAll(dead, key, 10, 10), 10);
    dead.close();
    assert.equal(await takeAll(await openProcess(), key, 10, 10), 0);
  });

  it('leaves each process its share while it is gone, at least one request, and is told of it afterwards', async () => {
    const rates = await openProcess();
    const [key, rare] = [randomUUID(), randomUUID()];
    assert.equal(await takeAll(rates, key, 10, 100), 10);
    nowMs += 1_000;
    await keeper[Symbol.asyncDispose]();
    await logged('rates.keeper_lost');
    // A quarter of 100, of which 10 are used.
    assert.equal(await takeAll(rates, key, 50, 100), 15);
    const { limit, remaining, isAllowed } = await rates.peek(key, 100);
    assert.deepEqual([limit, remaining, isAllowed], [100, 0, false]);
    assert.equal(await takeAll(rates, rare, 5, 2), 1);
    assert.equal(await takeAll(rates, randomUUID(), 1, 0), 0);

    // A new one counts what was allowed before it began.
    keeper = await openKeeper();
    await logged('rates.keeper_recovered');
    const other = await openProcess();
    assert.equal((await other.peek(key, 100)).remaining, 75);
    assert.equal(await takeAll(other, key, 100, 100), 75);
    // By its time: what was allowed a second earlier makes room a second earlier.
    nowMs += 59_000;
    assert.equal(await takeAll(other, key, 100, 100), 10);
    assert.equal(await takeAll(other, rare, 5, 2), 1);
  });

  it('keeps all processes within the limit in a minute that begins before it was lost', async () => {
    const [one, other] = [await openProcess({ processes: 2 }), await openProcess({ processes: 2 })];
    const key = randomUUID();
    assert.equal(await takeAll(one, key, 80, 100), 80);
    // One request more lets it know what the first has used.
    assert.equal(await takeAll(other, key, 1, 100), 1);
    nowMs += 1_000;
    await keeper[Symbol.asyncDispose]();
    await waitUntil(
      'both lost it',
      () => events.filter((event) => event === 'rates.keeper_lost').length === 2,
    );
    const meanwhile = (await takeAll(one, key, 100, 100)) + (await takeAll(other, key, 100, 100));
    assert.ok(meanwhile > 0 && meanwhile <= 19, String(meanwhile));
    nowMs += 60_000;
    assert.equal(await takeAll(one, key, 100, 100), 50);
    assert.equal(await takeAll(other, key, 100, 100), 50);
  });

  it('that is new holds a process to its share until the others have told it of theirs', async () => {
    const [one, other] = [await openProcess(), await openProcess()];
    const key = randomUUID();
    await keeper[Symbol.asyncDispose]();
    await waitUntil(
      'both lost it',
      () => events.filter((event) => event === 'rates.keeper_lost').length === 2,
    );
    assert.equal(await takeAll(other, key, 50, 100), 25);
    keeper = await openKeeper();
    await waitUntil(
      'both found it',
      () => events.filter((event) => event === 'rates.keeper_recovered').length === 2,
    );
    assert.equal(await takeAll(one, key, 100, 100), 25);
    nowMs += 4_000;
    assert.equal(await takeAll(one, key, 100, 100), 50);
  });

  it('is not told again of what it has counted itself when only the connection was lost', async () => {
    const proxyPath = `${path}.proxy`;
    const passing: Socket[] = [];
    const openProxy = async () => {
      const proxy = createServer((socket) => {
        const onward = connect(path);
        passing.push(
          socket.on('error', () => undefined),
          onward.on('error', () => undefined),
        );
        socket.pipe(onward).pipe(socket);
      });
      await once(proxy.listen(proxyPath), 'listening');
      return async () => {
        for (const socket of passing.splice(0)) socket.destroy();
        await new Promise((resolve) => proxy.close(resolve));
      };
    };
    const closeProxy = await openProxy();
    const rates = await openProcess({ path: proxyPath });
    const key = randomUUID();
    assert.equal(await takeAll(rates, key, 10, 100), 10);
    nowMs += 1;
    await closeProxy();
    await logged('rates.keeper_lost');
    assert.equal(await takeAll(rates, key, 5, 100), 5);
    stack.defer(await openProxy());
    await logged('rates.keeper_recovered');
    assert.equal((await rates.peek(key, 100)).remaining, 85);
  });

  it('is given up when it does not answer in time, and asked again when it does', async () => {
    const rates = await openProcess({ timeoutMs: 20 });
    const key = randomUUID();
    await takeAll(rates, key, 10, 100);
    // The kernel takes the connections of a keeper that does not run.
    await keeper[Symbol.asyncDispose]();
    const silent = createServer().listen(path);
    const accepted: Socket[] = [];
    silent.on('connection', (socket) => accepted.push(socket));
    const closeSilent = async () => {
      for (const socket of accepted.splice(0)) socket.destroy();
      if (silent.listening) await new Promise((resolve) => silent.close(resolve));
    };
    stack.defer(closeSilent);
    await once(silent, 'listening');
    await logged('rates.keeper_lost');
    await once(silent, 'connection');
    assert.equal(await takeAll(rates, key, 50, 100), 15);
    await closeSilent();
    keeper = await openKeeper();
    await logged('rates.keeper_recovered');
    assert.equal((await rates.peek(key, 100)).remaining, 75);
    assert.deepEqual(events, ['rates.keeper_lost', 'rates.keeper_recovered']);
  });

  it('is for its user alone', async () => {
    assert.equal((await stat(path)).mode & 0o777, 0o600);
  });

  it('ends connections that do not know the secret, or say what is no question', async () => {
    const question = Buffer.alloc(QUESTION_BYTES);
    writeQuestion(question, 0, { kind: 'take', keyId: randomUUID(), limitRpm: 1 });
    const nonsense = Buffer.alloc(64 * QUESTION_BYTES, 0xff);
    for (const hello of [
      Buffer.concat([randomBytes(HELLO_BYTES), question]),
      Buffer.concat([secret, nonsense]),
      Buffer.concat([secret, question, nonsense]),
    ]) {
      const socket = await connected(hello);
      socket.resume();
      await once(socket, 'close');
    }
    assert.equal(keeper.keys, 1);
    const rates = await openProcess();
    assert.equal(await takeAll(rates, randomUUID(), 5, 3), 3);
  });

  it('ends connections that do not say the secret in time', async () => {
    await keeper[Symbol.asyncDispose]();
    keeper = await openKeeper(50);
    for (const hello of [secret.subarray(1), Buffer.alloc(0)]) {
      const socket = await connected(hello);
      socket.resume();
      await once(socket, 'close');
    }
  });

  it('reads no more from a process that does not read its answers', async () => {
    const silent = await connected(secret);
    const questions = Buffer.alloc(10_000 * QUESTION_BYTES);
    const key = randomUUID();
    for (let offset = 0; offset < questions.length; offset += QUESTION_BYTES)
      writeQuestion(questions, offset, { kind: 'take', keyId: key, limitRpm: 1 });
    // Until the kernel's buffers of both directions are full.
    let writes = 0;
    while (silent.write(questions) || silent.writableLength < 4 * questions.length) {
      writes += 1;
      assert.ok(writes < 1_000, 'everything was read');
      await new Promise((resolve) => setImmediate(resolve));
    }
    const rates = await openProcess();
    assert.equal(await takeAll(rates, randomUUID(), 5, 3), 3);
  });

  it('reads questions that arrive in pieces', async () => {
    const key = randomUUID();
    const bytes = Buffer.concat([secret, Buffer.alloc(3 * QUESTION_BYTES)]);
    for (let n = 0; n < 3; n += 1)
      writeQuestion(bytes, HELLO_BYTES + n * QUESTION_BYTES, { kind: 'take', keyId: key, limitRpm: 10 });
    const socket = await connected(bytes.subarray(0, 1));
    socket.setNoDelay();
    for (let at = 1; at < bytes.length; at += 7) {
      await new Promise<void>((resolve) => socket.write(bytes.subarray(at, at + 7), () => resolve()));
      await new Promise((resolve) => setImmediate(resolve));
    }
    let received = 0;
    for await (const chunk of socket) {
      received += (chunk as Buffer).length;
      if (received === HELLO_BYTES + 3 * QUESTION_BYTES) break;
    }
    const rates = await openProcess();
    assert.equal((await rates.peek(key, 10)).remaining, 7);
  });
});
