import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, describe, it } from 'node:test';
import { READ_ON_MS } from '../attempt/read-on.ts';
import { assertError, useBench } from '../testing/bench.ts';
import { chunk, completion, delta, flush, type Script } from '../testing/mock-provider.ts';
import { assertNoDelays } from '../testing/no-delays.ts';
import { issueKey, moneyOf, ROUTE_TIMEOUT_MS } from '../testing/test-gateway.ts';

const hello = chunk(delta('Hello there'));
const PROMPT_COST = 8n * 70n;
// When the tokens cannot be known, the hold is billed: the prompt, and 1,000 tokens of output.
const HELD_COST = PROMPT_COST + 1_000n * 560n;
// 'Hello there' is two tokens.
const HELLO_COST = PROMPT_COST + 2n * 560n;

const silent: Script = () => {};
const headOnly: Script = (response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.flushHeaders();
};
const helloAndSilent: Script = async (response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  await flush(response, hello);
};

const bench = await useBench();

describe('requests that are cut short', () => {
  afterEach(() => assertNoDelays(bench.gateway.time));

  describe('by the time that the route is given', () => {
    for (const stream of [false, true]) {
      it(`504 before an answer has begun (stream: ${stream})`, async () => {
        bench.provider.script = silent;
        const asked = bench.provider.next();
        const answer = bench.gateway.chat(bench.key.secret, { stream });
        const { aborted } = await asked;
        bench.gateway.time.advance(ROUTE_TIMEOUT_MS);
        bench.gateway.time.fire(ROUTE_TIMEOUT_MS);
        const response = await answer;
        await assertError(response, { status: 504, code: 'upstream_timeout', type: 'upstream_error' });
        await aborted;
        await bench.assertRecord(response, {
          status: 504,
          refusal: 'upstream_timeout',
          terminationReason: 'proxy_guillotine',
          upstreamError: 'timed out',
          totalMs: ROUTE_TIMEOUT_MS,
          preDispatchMs: 0,
          promptTokens: null,
          costMicroPkr: 0n,
          isHeld: true,
        });
      });
    }

    it('504 while an answer that is not streamed is half here', async () => {
      const { promise: isHalfSent, resolve: halfSent } = Promise.withResolvers<void>();
      bench.provider.script = async (response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        await flush(response, '{"choices":');
        halfSent();
      };
      const answer = bench.gateway.chat(bench.key.secret);
      await isHalfSent;
      bench.gateway.time.fire(ROUTE_TIMEOUT_MS);
      await assertError(await answer, { status: 504, code: 'upstream_timeout', type: 'upstream_error' });
    });

    it('200 with an error event and an end in a stream, and what came is billed', async () => {
      bench.provider.script = helloAndSilent;
      const asked = bench.provider.next();
      const response = await bench.gateway.chat(bench.key.secret, { stream: true });
      const reader = response.body?.getReader() ?? assert.fail();
      assert.equal(Buffer.from((await reader.read()).value ?? []).toString(), hello);
      bench.gateway.time.fire(ROUTE_TIMEOUT_MS);
      const last = Buffer.from((await reader.read()).value ?? []).toString();
      assert.match(last, /^data: \{"error":\{.*"code":"upstream_timeout"\}\}\n\n$/);
      assert.equal((await reader.read()).done, true);
      await (await asked).aborted;
      await bench.assertRecord(response, {
        status: 200,
        refusal: '',
        terminationReason: 'proxy_guillotine',
        upstreamError: 'timed out',
        tokensGenerated: 2,
        tokensEstimated: true,
        costMicroPkr: HELLO_COST,
      });
    });
  });

  describe('by the caller', () => {
    /** The caller is gone, and the provider says no more in the time that is left to it. */
    const saysNoMore = async () => {
      await bench.gateway.time.started(READ_ON_MS);
      bench.gateway.time.fire(READ_ON_MS);
    };

    it('499 before an answer has begun, billed for what was set aside', async () => {
      bench.provider.script = silent;
      const asked = bench.provider.next();
      const leaving = new AbortController();
      const answer = bench.gateway.chat(bench.key.secret, {}, { signal: leaving.signal });
      const records = bench.gateway.journal.records.length;
      const { aborted } = await asked;
      leaving.abort();
      await assert.rejects(answer, { name: 'AbortError' });
      await saysNoMore();
      await aborted;
      await bench.gateway.journal.count(records + 1);
      const record = bench.gateway.journal.records.at(-1);
      assert.deepEqual(record, {
        ...record,
        status: 499,
        refusal: '',
        terminationReason: 'client_disconnect',
        upstreamError: null,
        promptTokens: 8,
        tokensGenerated: 1_000,
        tokensEstimated: true,
        costMicroPkr: HELD_COST,
        isHeld: true,
      });
    });

    for (const [title, script, tokensGenerated, costMicroPkr] of [
      ['after the head', headOnly, 1_000, HELD_COST],
      ['after some tokens', helloAndSilent, 2, HELLO_COST],
    ] as const) {
      it(`200 ${title} of a stream`, async () => {
        bench.provider.script = script;
        const asked = bench.provider.next();
        const leaving = new AbortController();
        const response = await bench.gateway.chat(
          bench.key.secret,
          { stream: true },
          { signal: leaving.signal },
        );
        if (script === helloAndSilent) await response.body?.getReader().read();
        leaving.abort();
        await saysNoMore();
        await (await asked).aborted;
        await bench.assertRecord(response, {
          status: 200,
          terminationReason: 'client_disconnect',
          promptTokens: 8,
          tokensGenerated,
          tokensEstimated: true,
          costMicroPkr,
        });
      });
    }

    it('200 billed by the usage of the provider when that came in time', async () => {
      const usage = { prompt_tokens: 100, completion_tokens: 50 };
      bench.provider.script = async (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        await flush(response, hello.replace('}\n\n', `,"usage":${JSON.stringify(usage)}}\n\n`));
      };
      const leaving = new AbortController();
      const response = await bench.gateway.chat(
        bench.key.secret,
        { stream: true },
        { signal: leaving.signal },
      );
      await response.body?.getReader().read();
      leaving.abort();
      await saysNoMore();
      const { promptTokens, tokensGenerated, tokensEstimated } = await bench.recordOf(response);
      assert.deepEqual([promptTokens, tokensGenerated, tokensEstimated], [100, 50, false]);
    });

    it('499 in the middle of its own body, with nothing billed and nothing set aside', async () => {
      const key = await issueKey(bench.database);
      const records = bench.gateway.journal.records.length;
      const socket = connect(bench.gateway.port, '127.0.0.1');
      socket.write(
        `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key.secret}\r\nexpect: 100-continue\r\ncontent-length: 100\r\n\r\n`,
      );
      // The gateway has read the key and now waits for the body.
      const [leave] = await once(socket, 'data');
      assert.match(String(leave), /^HTTP\/1\.1 100 /);
      socket.write('{"model":');
      socket.destroy();
      await bench.gateway.journal.count(records + 1);
      const record = bench.gateway.journal.records.at(-1);
      assert.deepEqual(record, {
        ...record,
        keyId: key.id,
        status: 499,
        terminationReason: 'client_disconnect',
        costMicroPkr: 0n,
        promptTokens: null,
        upstreamModel: null,
        isHeld: false,
      });
      assert.equal((await moneyOf(bench.database, key.id)).holds, 0n);
    });

    it('200 in the record when the caller leaves while it is being written', async () => {
      bench.provider.script = (response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(JSON.stringify(completion('x', { prompt: 3, completion: 5 })));
      };
      const { database, key } = bench;
      const leaving = new AbortController();
      const records = bench.gateway.journal.records.length;
      bench.gateway.journal.before = async () => {
        leaving.abort();
      };
      await assert.rejects(bench.gateway.chat(key.secret, {}, { signal: leaving.signal }), {
        name: 'AbortError',
      });
      bench.gateway.journal.before = async () => {};
      await bench.gateway.journal.count(records + 1);
      const record = bench.gateway.journal.records.at(-1);
      assert.deepEqual([record?.status, record?.terminationReason], [200, 'success']);
      assert.equal(record?.costMicroPkr, 3n * 70n + 5n * 560n);
      assert.ok((await moneyOf(database, key.id)).holds > 0n);
    });
  });
});
