import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { assertError, type Bench, rateHeadersOf, useBench } from '../testing/bench.ts';
import { completion, flush, json } from '../testing/mock-provider.ts';
import { addRoute, issueKey, type Money, moneyOf, PLATFORM_KEY } from '../testing/test-gateway.ts';

const UPSTREAM = { type: 'upstream_error' };

const bench = await useBench();

describe('POST /v1/chat/completions, answered whole', () => {
  afterEach(() => {
    bench.provider.asked.length = 0;
  });

  it("200 with the provider's answer byte for byte, recorded with its own usage", async () => {
    const answer = JSON.stringify(completion('Hé☕.', { prompt: 11, completion: 7 }), undefined, 2);
    bench.provider.script = (response, asked) => {
      bench.gateway.time.advance(250);
      return json(answer)(response, asked);
    };
    const response = await bench.gateway.chat(
      bench.key.secret,
      { user: 'u' },
      { headers: { 'user-agent': 'café' } },
    );
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('content-type'), 'application/json');
    assert.deepEqual(rateHeadersOf(response), { limit: '1000', remaining: '999', reset: '60s' });
    assert.equal(await response.text(), answer);
    assert.deepEqual(await bench.recordOf(response), {
      requestId: response.headers.get('x-request-id'),
      organizationId: bench.key.organizationId,
      keyId: bench.key.id,
      projectId: bench.key.projectId,
      startedAtMicros: BigInt(Date.UTC(2026, 10, 20, 10, 15, 30)) * 1_000n,
      model: 'mock/model',
      status: 200,
      isStream: false,
      totalMs: 250,
      ttftMs: null,
      tpotMs: null,
      preDispatchMs: 0,
      promptTokens: 11,
      tokensGenerated: 7,
      cacheCreationInputTokens: null,
      cacheReadInputTokens: null,
      totalTokens: 18,
      tokensEstimated: false,
      costMicroPkr: 11n * 70n + 7n * 560n,
      isByok: false,
      terminationReason: 'success',
      refusal: '',
      upstreamError: null,
      upstreamModel: 'upstream-model',
      userAgent: 'café',
      metadata: new Map(),
      attempts: [
        {
          provider: 'provider of mock/model',
          upstreamModel: 'upstream-model',
          credential: 'default',
          isByok: false,
          status: 200,
          startedMs: 0,
          totalMs: 250,
          ttftMs: null,
          promptTokens: 11,
          tokensGenerated: 7,
          costMicroPkr: 11n * 70n + 7n * 560n,
          ending: 'served',
          error: null,
        },
      ],
      isHeld: true,
    });
    assert.deepEqual(bench.provider.asked[0]?.body, {
      model: 'upstream-model',
      messages: [{ role: 'user', content: 'Hi' }],
      user: 'u',
      max_completion_tokens: 1_000,
    });
  });

  it('200 only once the record is written', async () => {
    bench.provider.script = json(completion('Hello.', { prompt: 1, completion: 1 }));
    const { promise: written, resolve: write } = Promise.withResolvers<void>();
    const { promise: isAppending, resolve: appending } = Promise.withResolvers<void>();
    bench.gateway.journal.before = () => {
      appending();
      return written;
    };
    let hasAnswered = false;
    const answer = bench.gateway.chat(bench.key.secret).then((response) => {
      hasAnswered = true;
      return response;
    });
    try {
      await isAppending;
      await bench.gateway.fetch('/healthz');
      assert.equal(hasAnswered, false);
    } finally {
      bench.gateway.journal.before = async () => {};
      write();
    }
    assert.equal((await answer).status, 200);
  });

  it('503 and not 200 when the record cannot be written', async () => {
    bench.gateway.journal.before = async () => {
      throw new Error('no space left');
    };
    const response = await bench.gateway.chat(bench.key.secret);
    bench.gateway.journal.before = async () => {};
    await assertError(response, { status: 503, code: 'service_unavailable', type: 'server_error' });
    const mistakes = bench.gateway.logged.filter((line) => line['level'] === 50);
    assert.equal(mistakes.length, 1);
  });

  it('200 of a provider without usage is counted with a tokenizer and marked so', async () => {
    bench.provider.script = json(completion('one two three four'));
    const response = await bench.gateway.chat(bench.key.secret);
    await response.text();
    const { promptTokens, tokensGenerated, totalTokens, tokensEstimated, costMicroPkr } =
      await bench.recordOf(response);
    assert.deepEqual(
      { promptTokens, tokensGenerated, totalTokens, tokensEstimated, costMicroPkr },
      { promptTokens: 8, tokensGenerated: 4, totalTokens: 12, tokensEstimated: true, costMicroPkr: 2_800n },
    );
  });

  it('200 with events when the provider answers whole though a stream was asked for', async () => {
    bench.provider.script = json(completion('Hello.', { prompt: 2, completion: 3 }));
    const response = await bench.gateway.chat(bench.key.secret, { stream: true });
    assert.match(response.headers.get('content-type') ?? '', /^text\/event-stream/);
    const text = await response.text();
    assert.match(text, /^data: \{.*"object":"chat\.completion\.chunk".*"content":"Hello\."/m);
    assert.match(text, /"finish_reason":"stop".*\n\ndata: \[DONE\]\n\n$/s);
    await bench.assertRecord(response, { isStream: true, totalTokens: 5 });
  });

  it("200 with the caller's limits capped by the route and reserved for every choice", async () => {
    let held: Money | undefined;
    let key = bench.key;
    bench.provider.script = async (response, asked) => {
      held = await moneyOf(bench.database, key.id);
      await json(completion('x', { prompt: 1, completion: 1 }))(response, asked);
    };
    for (const [asked, cap, n] of [
      [{ max_tokens: 5_000 }, 1_000, 1],
      [{ max_tokens: 10, n: 4 }, 10, 4],
      [{ max_completion_tokens: 1_001 }, 1_000, 1],
    ] as const) {
      key = await issueKey(bench.database);
      const response = await bench.gateway.chat(key.secret, asked);
      assert.equal(response.status, 200);
      const { model: _, messages: __, n: ___, ...sent } = bench.provider.asked.at(-1)?.body ?? {};
      // Under the name that the provider reads, whichever the caller used.
      assert.deepEqual(sent, { max_completion_tokens: cap });
      const reserved = 8n * 70n + BigInt(cap) * BigInt(n) * 560n;
      assert.deepEqual(held, { keySpent: 0n, keyHeld: reserved, balanceHeld: reserved, holds: 1n });
    }
  });

  for (const status of [400, 404, 429, 500, 529] as const) {
    it(`${status} of the provider passes as it came, and costs nothing`, async () => {
      const body = `{"error": {"message":"no ${status} sk-abcdefghij and Bearer abc.def" , "code":null}}`;
      bench.provider.script = json(body, status, {
        'content-type': 'application/problem+json',
        'retry-after': '17',
        'set-cookie': 'a=b',
        'x-request-id': 'theirs',
        'x-ratelimit-limit-requests': '5',
      });
      const response = await bench.gateway.chat(bench.key.secret, { stream: status % 2 === 0 });
      assert.equal(response.status, status);
      assert.equal(await response.text(), body);
      assert.equal(response.headers.get('content-type'), 'application/problem+json');
      assert.equal(response.headers.get('retry-after'), '17');
      assert.equal(response.headers.get('set-cookie'), null);
      assert.equal(response.headers.get('x-upstream-request-id'), 'theirs');
      assert.equal(response.headers.get('x-upstream-ratelimit-limit-requests'), '5');
      assert.equal(response.headers.get('x-gatehouse-error-source'), 'provider');
      assert.equal(response.headers.get('x-ratelimit-limit-requests'), '1000');
      await bench.assertRecord(response, {
        status,
        terminationReason: 'success',
        refusal: '',
        upstreamError: `no ${status} [redacted] and [redacted]`,
        upstreamModel: 'upstream-model',
        costMicroPkr: 0n,
        promptTokens: null,
        totalTokens: 0,
        tokensEstimated: false,
        isHeld: true,
      });
    });
  }

  it("500 of the provider never carries the platform's key to the caller, and its message is bounded", async () => {
    bench.provider.script = json(`your key ${PLATFORM_KEY} is bad ${'é'.repeat(2_000)}`, 500);
    const response = await bench.gateway.chat(bench.key.secret);
    assert.match(await response.text(), /^your key \[redacted\] is bad é+$/);
    const { upstreamError } = await bench.recordOf(response);
    assert.match(upstreamError ?? '', /^your key \[redacted\] is bad é+$/);
    assert.ok(Buffer.byteLength(upstreamError ?? '') <= 1_024);
  });

  for (const [title, script] of [
    ['an answer that is no JSON', json('<html>ok</html>')],
    ['an empty answer', json('', 200)],
    ['a list', json('[]')],
    ['no content', json('', 204)],
    [
      'an answer cut in the middle',
      async (response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': '500' });
        await flush(response, '{"choices":[');
        response.destroy();
      },
    ],
    [
      'an error cut in the middle',
      async (response) => {
        response.writeHead(500, { 'content-type': 'application/json', 'content-length': '500' });
        await flush(response, '{"error":');
        response.destroy();
      },
    ],
    ['no answer', (response) => void response.destroy()],
    ['no HTTP', (response) => void response.socket?.end('SSH-2.0-OpenSSH\r\n\r\n')],
  ] as [string, Bench['provider']['script']][]) {
    it(`502 for ${title} from the provider, with nothing billed`, async () => {
      bench.provider.script = script;
      const response = await bench.gateway.chat(bench.key.secret);
      await assertError(response, { ...UPSTREAM, status: 502, code: 'upstream_error' });
      const record = await bench.assertRecord(response, {
        status: 502,
        refusal: 'upstream_error',
        terminationReason: 'upstream_stream_aborted',
        upstreamModel: 'upstream-model',
        promptTokens: null,
        costMicroPkr: 0n,
        isHeld: true,
      });
      assert.ok(record.upstreamError);
    });
  }

  it('502 when nobody listens at the provider', async () => {
    await addRoute(bench.database, { id: 'mock/refused', baseUrl: 'http://127.0.0.1:1/v1' });
    const response = await bench.gateway.chat(bench.key.secret, { model: 'mock/refused' });
    await assertError(response, { ...UPSTREAM, status: 502, code: 'upstream_error' });
    assert.equal((await bench.recordOf(response)).upstreamError, 'the connection was refused');
  });
});
