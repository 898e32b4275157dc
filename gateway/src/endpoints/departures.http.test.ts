import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { READ_ON_MS } from '../attempt/read-on.ts';
import type { FinishedRequest } from '../journal/finished-request.ts';
import { startBench, useBench } from '../testing/bench.ts';
import { chunk, completion, DONE, delta, flush, type Script, usageOf } from '../testing/mock-provider.ts';
import { assertNoDelays } from '../testing/no-delays.ts';
import { issueKey, moneyOf, ROUTE_TIMEOUT_MS } from '../testing/test-gateway.ts';

const usage = usageOf({ prompt: 9, completion: 900 });
const REPORTED_COST = 9n * 70n + 900n * 560n;
const HELD_COST = 8n * 70n + 1_000n * 560n;
const hello = chunk(delta('Hello there'));
const think = (text: string) => chunk({ choices: [{ index: 0, delta: { reasoning_content: text } }] });
const lastUsage = chunk({ choices: [], usage });
const stop = chunk(delta('', 'stop'));

const bench = await useBench();

describe('a caller that leaves', () => {
  afterEach(() => assertNoDelays(bench.gateway.time));

  interface Departure {
    readonly script: (gone: Promise<void>) => Script;
    readonly body?: object;
    /** A step that runs once the gateway reads on. */
    readonly next?: () => void | Promise<void>;
    readonly secret?: string;
    /** True if there is something to receive before it leaves. */
    readonly receives?: boolean;
  }

  /** Leaves in the middle of an answer, and returns what is recorded. */
  const leave = async ({
    script,
    body,
    next,
    secret,
    receives = true,
  }: Departure): Promise<FinishedRequest> => {
    const { gateway, provider, key } = bench;
    const { promise: gone, resolve: isGone } = Promise.withResolvers<void>();
    provider.script = script(gone);
    const leaving = new AbortController();
    const asked = provider.next();
    const records = gateway.journal.records.length;
    const answer = gateway.chat(secret ?? key.secret, { stream: true, ...body }, { signal: leaving.signal });
    await asked;
    if (receives) await (await answer).body?.getReader().read();
    const readsOn = gateway.time.started(READ_ON_MS);
    leaving.abort();
    await answer.catch(() => {});
    await readsOn;
    gateway.time.advance(5_000);
    isGone();
    await next?.();
    await gateway.journal.count(records + 1);
    return gateway.journal.records.at(-1) ?? assert.fail();
  };
  const streaming =
    (before: readonly string[], afterwards: readonly string[]) =>
    (gone: Promise<void>): Script =>
    async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const event of before) await flush(response, event);
      await gone;
      response.end(afterwards.join(''));
    };
  const silentAfter = (...before: string[]) => ({
    script: (): Script => async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const event of before) await flush(response, event);
    },
    next: () => bench.gateway.time.fire(READ_ON_MS),
  });

  it("pays for the provider's usage in a stream that it did not wait for, in its own time", async () => {
    const record = await leave({ script: streaming([hello], [hello, stop, lastUsage, DONE]) });
    assert.deepEqual(record, {
      ...record,
      status: 200,
      terminationReason: 'client_disconnect',
      upstreamError: null,
      promptTokens: 9,
      tokensGenerated: 900,
      totalTokens: 909,
      tokensEstimated: false,
      costMicroPkr: REPORTED_COST,
      totalMs: 0,
      ttftMs: 0,
      tpotMs: 0,
    });
  });

  it('pays for what came of a stream that the provider never ends', async () => {
    const { tokensGenerated, tokensEstimated } = await leave({
      script: () => async (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        for (const event of [hello, stop]) await flush(response, event);
      },
      next: () => bench.gateway.time.fire(ROUTE_TIMEOUT_MS),
    });
    assert.deepEqual([tokensGenerated, tokensEstimated], [2, true]);
  });

  it("pays for the provider's usage in an answer that is not streamed", async () => {
    const record = await leave({
      script: (gone) => async (response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        const text = JSON.stringify(completion('Hello'.repeat(10_000), { prompt: 9, completion: 900 }));
        await flush(response, text.slice(0, 20_000));
        await gone;
        response.end(text.slice(20_000));
      },
      body: { stream: false },
      receives: false,
    });
    assert.deepEqual(record, {
      ...record,
      status: 499,
      terminationReason: 'client_disconnect',
      tokensGenerated: 900,
      tokensEstimated: false,
      costMicroPkr: REPORTED_COST,
      totalMs: 0,
    });
  });

  it('pays for a stream that had not begun when it left', async () => {
    const { status, costMicroPkr } = await leave({
      script: (gone) => async (response) => {
        await gone;
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end([hello, stop, lastUsage, DONE].join(''));
      },
      receives: false,
    });
    assert.deepEqual([status, costMicroPkr], [499, REPORTED_COST]);
  });

  it('pays nothing when the provider refuses in the end', async () => {
    const { status, costMicroPkr } = await leave({
      script: (gone) => async (response) => {
        await gone;
        response.writeHead(429, { 'content-type': 'application/json' });
        response.end('{"error":{"message":"slow down"}}');
      },
      receives: false,
    });
    assert.deepEqual([status, costMicroPkr], [499, 0n]);
  });

  it('pays for what was counted where nothing is reported, and that is more than the first chunk said', async () => {
    const first = chunk({ choices: [], usage: usageOf({ prompt: 9, completion: 0 }) });
    const record = await leave({ script: streaming([first, hello], [hello, stop, DONE]) });
    assert.deepEqual(
      [record.promptTokens, record.tokensGenerated, record.tokensEstimated, record.costMicroPkr],
      [9, 4, true, 9n * 70n + 4n * 560n],
    );
  });

  for (const [title, events] of [
    ['only the first chunk', [chunk({ choices: [], usage: usageOf({ prompt: 9, completion: 0 }) })]],
    ['reasoning', [think('Let me see')]],
    ['reasoning and some words', [think('Let me see'), hello]],
    [
      'words, and that there was reasoning',
      [
        chunk({
          ...delta('Hello'),
          usage: {
            ...usageOf({ prompt: 9, completion: 1 }),
            completion_tokens_details: { reasoning_tokens: 1 },
          },
        }),
      ],
    ],
  ] as const) {
    it(`pays what was set aside after ${title}, where no usage comes`, async () => {
      const record = await leave({
        ...silentAfter(...events),
        // A chunk with usage alone is not for a caller that did not ask.
        body: { stream_options: { include_usage: true } },
      });
      assert.equal(record.tokensGenerated, 1_000);
      assert.equal(record.tokensEstimated, true);
      assert.equal(record.costMicroPkr, title.startsWith('reasoning') ? HELD_COST : HELD_COST + 70n);
    });
  }

  it('does not wait for the provider any longer than that, nor past the time of the route', async () => {
    for (const ms of [READ_ON_MS, ROUTE_TIMEOUT_MS]) {
      const asked = bench.provider.next();
      const record = await leave({ ...silentAfter(hello), next: () => bench.gateway.time.fire(ms) });
      await (await asked).aborted;
      assert.deepEqual([record.tokensGenerated, record.terminationReason], [2, 'client_disconnect']);
    }
  });

  it('keeps its credit set aside until then, for which the hold stands long enough', async () => {
    const { secret, id } = await issueKey(bench.database);
    const asked = bench.provider.next();
    await leave({
      ...silentAfter(hello),
      secret,
      next: async () => {
        assert.equal((await moneyOf(bench.database, id)).keyHeld, HELD_COST);
        bench.gateway.time.fire(READ_ON_MS);
      },
    });
    await (await asked).aborted;
  });

  it('has so many read on at a time, and pays what was set aside beyond: there may be reasoning that is not shown', async () => {
    const { secret } = await issueKey(bench.database);
    const { gateway, provider } = bench;
    provider.script = silentAfter(hello).script();
    const records = gateway.journal.records.length;
    const places = 128;
    const leavings = Array.from({ length: places + 1 }, () => new AbortController());
    const answers = await Promise.all(
      leavings.map(({ signal }) => gateway.chat(secret, { stream: true }, { signal })),
    );
    for (const answer of answers) await answer.body?.getReader().read();
    for (const leaving of leavings) leaving.abort();
    await gateway.journal.count(records + 1);
    assert.equal(gateway.journal.records.length, records + 1);
    assert.equal(gateway.journal.records.at(-1)?.costMicroPkr, HELD_COST);
    gateway.time.fire(READ_ON_MS);
    await gateway.journal.count(records + 1 + places);
    for (const { tokensGenerated } of gateway.journal.records.slice(records + 1))
      assert.equal(tokensGenerated, 2);
  });

  it('does not keep the gateway from stopping: after the grace it is settled by what is known', async () => {
    await using other = await startBench();
    other.provider.script = silentAfter(hello).script();
    const leaving = new AbortController();
    const answer = await other.gateway.chat(other.key.secret, { stream: true }, { signal: leaving.signal });
    await answer.body?.getReader().read();
    leaving.abort();
    await other.gateway.time.started(READ_ON_MS);
    await other.gateway.gateway.close({ graceMs: 0 });
    const [record] = other.gateway.journal.records;
    assert.deepEqual([record?.terminationReason, record?.tokensGenerated], ['client_disconnect', 2]);
  });
});
