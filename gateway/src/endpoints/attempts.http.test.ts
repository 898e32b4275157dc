import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Attempt } from '@gatehouse/store';
import { READ_ON_MS } from '../attempt/read-on.ts';
import { useBench } from '../testing/bench.ts';
import {
  chunk,
  completion,
  DONE,
  delta,
  flush,
  json,
  type Script,
  sse,
  usageOf,
} from '../testing/mock-provider.ts';
import { addRoute, issueKey, PLATFORM_KEY, ROUTE_TIMEOUT_MS } from '../testing/test-gateway.ts';
import { storeVaultKey } from '../testing/vault-key.ts';

const PROVIDER = 'provider of mock/model';
const usage = { prompt: 10, completion: 20 };
const streamed = [chunk(delta('Hello')), chunk(delta('', 'stop'))];
const lastUsage = chunk({ choices: [], usage: usageOf(usage) });

const bench = await useBench();

describe('the attempts of a request', () => {
  before(async () => {
    const { database, provider } = bench;
    await addRoute(database, { id: 'mock/keyless', baseUrl: provider.baseUrl, apiKeyEnv: null });
    await addRoute(database, { id: 'mock/nowhere', baseUrl: 'http://127.0.0.1:1' });
  });

  /** The one attempt in the record of this answer, once it has been read. */
  async function attemptOf(response: Response): Promise<Attempt> {
    await response.text();
    const { attempts, costMicroPkr, upstreamError } = await bench.recordOf(response);
    const [attempt] = attempts;
    assert.ok(attempt);
    assert.equal(attempts.length, 1);
    assert.deepEqual([attempt.costMicroPkr, attempt.error], [costMicroPkr, upstreamError]);
    return attempt;
  }

  it('200 with one attempt that was served: its credential, times, tokens and cost', async () => {
    const { gateway, provider, key } = bench;
    provider.script = async (response) => {
      gateway.time.advance(250);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const event of streamed) await flush(response, event);
      gateway.time.advance(1_000);
      response.end(lastUsage + DONE);
    };
    const attempt = await attemptOf(await gateway.chat(key.secret, { stream: true }));
    const { startedMs, totalMs, ttftMs, ...others } = attempt;
    assert.deepEqual(others, {
      provider: PROVIDER,
      upstreamModel: 'upstream-model',
      credential: 'default',
      isByok: false,
      status: 200,
      promptTokens: 10,
      tokensGenerated: 20,
      costMicroPkr: 10n * 70n + 20n * 560n,
      ending: 'served',
      error: null,
    });
    assert.deepEqual([startedMs, totalMs], [0, 1_250]);
    assert.equal(ttftMs, 250);
  });

  it("200 with the organisation's own key, or with none", async () => {
    const { gateway, provider, database } = bench;
    provider.script = json(completion('Hello', usage));
    const key = await issueKey(database);
    const keyless = await attemptOf(await gateway.chat(key.secret, { model: 'mock/keyless' }));
    assert.deepEqual([keyless.credential, keyless.isByok], ['', false]);
    await storeVaultKey(database, key, PROVIDER, 'sk-own-0123456789');
    const own = await attemptOf(await gateway.chat(key.secret));
    assert.deepEqual([own.credential, own.isByok, own.costMicroPkr], ['own', true, 595n]);
  });

  const cut: Script = async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    await flush(response, streamed[0] ?? '');
    response.destroy();
  };
  const hung: Script = () => bench.gateway.time.fire(ROUTE_TIMEOUT_MS);
  const failure = { error: { message: `no: ${PLATFORM_KEY}` } };
  for (const { title, script, body, expected } of [
    {
      title: "429 of the provider's own, with its words",
      script: json(failure, 429),
      expected: [429, 'error_status', 'no: [redacted]'],
    },
    {
      title: '502 for a credential that the provider rejects',
      script: json(failure, 401),
      expected: [401, 'error_status', "answered 401 to the platform's credential"],
    },
    {
      title: '502 for a provider that cannot be reached',
      body: { model: 'mock/nowhere' },
      expected: [null, 'unreachable', 'the connection was refused'],
    },
    {
      title: '502 for an answer that is none',
      script: json('<html>', 200),
      expected: [200, 'broken', 'answered with something that is no completion'],
    },
    { title: '504 at the time limit', script: hung, expected: [null, 'timed_out', 'timed out'] },
    {
      title: '200 with a stream that breaks',
      script: cut,
      body: { stream: true },
      expected: [200, 'broken', 'the connection broke'],
    },
    {
      title: '200 with a stream whose last event is an error',
      script: sse(streamed[0] ?? '', chunk({ error: { message: 'overloaded' } }), DONE),
      body: { stream: true },
      expected: [200, 'error_event', 'overloaded'],
    },
    {
      title: '502 for an error in place of an answer',
      script: json({ error: { message: 'overloaded' } }),
      expected: [200, 'broken', 'overloaded'],
    },
  ] as const) {
    it(title, async () => {
      if (script) bench.provider.script = script;
      const attempt = await attemptOf(await bench.gateway.chat(bench.key.secret, body));
      assert.deepEqual([attempt.status, attempt.ending, attempt.error], expected);
    });
  }

  it('200 with a stream that the time limit ends', async () => {
    const { gateway, provider, key } = bench;
    provider.script = async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      await flush(response, streamed[0] ?? '');
    };
    const response = await gateway.chat(key.secret, { stream: true });
    gateway.time.fire(ROUTE_TIMEOUT_MS);
    const { status, ending, error } = await attemptOf(response);
    assert.deepEqual([status, ending, error], [200, 'timed_out', 'timed out']);
  });

  it('200 with the attempt of a caller that left', async () => {
    const { gateway, provider, key } = bench;
    const { promise: gone, resolve: isGone } = Promise.withResolvers<void>();
    const leaving = new AbortController();
    provider.script = async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      await flush(response, streamed[0] ?? '');
      await gone;
      response.end(lastUsage + DONE);
    };
    const records = gateway.journal.records.length;
    const answer = await gateway.chat(key.secret, { stream: true }, { signal: leaving.signal });
    await answer.body?.getReader().read();
    const readsOn = gateway.time.started(READ_ON_MS);
    leaving.abort();
    await readsOn;
    isGone();
    await gateway.journal.count(records + 1);
    const attempts = gateway.journal.records.at(-1)?.attempts;
    assert.deepEqual(
      attempts?.map(({ status, ending, error }) => [status, ending, error]),
      [[200, 'client_disconnect', null]],
    );
  });

  it('404 without an attempt', async () => {
    const response = await bench.gateway.chat(bench.key.secret, { model: 'mock/unknown' });
    assert.equal(response.status, 404);
    assert.deepEqual((await bench.recordOf(response)).attempts, []);
  });

  it('200 without an attempt for a count of tokens, which is free and may be counted', async () => {
    await addRoute(bench.database, {
      id: 'mock/claude',
      protocol: 'anthropic',
      endpoints: ['messages'],
      baseUrl: bench.provider.baseUrl,
    });
    bench.provider.script = json({ input_tokens: 14 });
    const asked = bench.provider.next();
    const response = await bench.gateway.post('/v1/messages/count_tokens', bench.key.secret, {
      model: 'mock/claude',
      messages: [{ role: 'user', content: 'Hi' }],
    });
    await asked;
    assert.equal(response.status, 200);
    assert.deepEqual((await bench.recordOf(response)).attempts, []);
  });
});
