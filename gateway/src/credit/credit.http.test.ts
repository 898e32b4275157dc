import assert from 'node:assert/strict';
import { before, beforeEach, describe, it } from 'node:test';
import { assertError, useBench } from '../testing/bench.ts';
import {
  type Asked,
  chunk,
  completion,
  DONE,
  delta,
  json,
  type Script,
  usageOf,
} from '../testing/mock-provider.ts';
import { addRoute, issueKey, moneyOf } from '../testing/test-gateway.ts';

// 'Hi' and its frame are 8 tokens. Nothing is settled in these tests: credit is available again because the hold was lowered.
const PROMPT = 8n * 70n;
const OUTPUT_TOKEN = 560n;
const HEADER = 'x-gatehouse-output-limit';
const HELD = { status: 429, code: 'credit_held', type: 'rate_limit_error' };

/** Answers, as JSON or as a stream, with this usage. */
function using(usage: (asked: Asked) => { prompt: number; completion: number }): Script {
  return async (response, asked) => {
    if (asked.body['stream'] !== true) return json(completion('x', usage(asked)))(response, asked);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(chunk(delta('x')) + chunk(delta('', 'stop')));
    response.end(chunk({ choices: [], usage: usageOf(usage(asked)) }) + DONE);
  };
}

const capOf = ({ body }: Asked) => Number(body['max_completion_tokens'] ?? body['max_tokens']);

const bench = await useBench();

describe('the credit of a request', () => {
  before(async () => {
    const { baseUrl } = bench.provider;
    await addRoute(bench.database, { id: 'mock/low', baseUrl, minOutputTokens: 100 });
    await addRoute(bench.database, {
      id: 'mock/default',
      baseUrl,
      defaultOutputTokens: 300,
      minOutputTokens: 100,
    });
  });
  beforeEach(() => {
    bench.provider.script = using(() => ({ prompt: 8, completion: 1 }));
  });
  const ask = async (secret: string, body: object = {}) => {
    const response = await bench.gateway.chat(secret, { model: 'mock/low', ...body });
    const text = await response.text();
    const code = response.ok ? null : (JSON.parse(text) as { error: { code: string } }).error.code;
    return { status: response.status, code, cap: response.headers.get(HEADER) };
  };
  /** Holds back every answer until it is called. */
  const holdAnswers = () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { script } = bench.provider;
    bench.provider.script = async (response, asked) => {
      await promise;
      await script(response, asked);
    };
    return resolve;
  };

  it('200 for each of 200 calls one after the other that hold 70 % of the balance, as JSON and as a stream', async () => {
    const worst = PROMPT + 1_000n * OUTPUT_TOKEN;
    const depositedMicroPkr = (worst * 10n) / 7n;
    const key = await issueKey(bench.database, { depositedMicroPkr });
    const limited = await issueKey(bench.database, { creditLimitMicroPkr: depositedMicroPkr });
    for (const { secret } of [key, limited]) {
      for (let n = 0; n < 200; n += 1) {
        const answer = await ask(secret, { stream: n % 2 === 0 });
        assert.deepEqual(answer, { status: 200, code: null, cap: null }, `call ${n}`);
      }
    }
    const { keyHeld, keySpent } = await moneyOf(bench.database, key.id);
    assert.deepEqual([keyHeld, keySpent], [200n * (PROMPT + OUTPUT_TOKEN), 0n]);
  });

  it('200 or 429 for each of sixteen at once that want 70 % of the balance, and 200 for all who ask again', async () => {
    const worst = PROMPT + 1_000n * OUTPUT_TOKEN;
    const key = await issueKey(bench.database, { depositedMicroPkr: (worst * 10n) / 7n });
    const release = holdAnswers();
    let refused = 0;
    const first = await Promise.all(
      Array.from({ length: 16 }, async () => {
        const answer = await ask(key.secret);
        if (answer.status === 429) refused += 1;
        if (refused === 14) release();
        return answer;
      }),
    );
    assert.equal(first.filter(({ status }) => status === 200).length, 2);
    // The second one was given what the first one left: 30 % of the balance.
    const rest = (worst * 10n) / 7n - worst;
    assert.deepEqual(
      first.flatMap(({ cap }) => cap ?? []),
      [String((rest - PROMPT) / OUTPUT_TOKEN)],
    );
    assert.ok(first.every(({ status, code }) => status === 200 || code === 'credit_held'));
    await Promise.all(
      Array.from({ length: 14 }, async () => {
        let answer = await ask(key.secret);
        while (answer.status !== 200) {
          assert.equal(answer.code, 'credit_held');
          answer = await ask(key.secret);
        }
      }),
    );
  });

  it('200 with the cap lowered to what is left, in the header and for the provider, and never below the floor', async () => {
    for (const isStream of [false, true]) {
      for (const [tokens, cap] of [
        [1_000n, null],
        [999n, '999'],
        [101n, '101'],
        [100n, '100'],
      ] as const) {
        const key = await issueKey(bench.database, {
          creditLimitMicroPkr: PROMPT + tokens * OUTPUT_TOKEN + OUTPUT_TOKEN - 1n,
        });
        assert.deepEqual(await ask(key.secret, { stream: isStream }), { status: 200, code: null, cap });
        assert.equal(capOf(bench.provider.asked.at(-1) as Asked), Number(tokens));
      }
      const key = await issueKey(bench.database, { creditLimitMicroPkr: PROMPT + 100n * OUTPUT_TOKEN - 1n });
      const asked = bench.provider.asked.length;
      assert.deepEqual(await ask(key.secret, { stream: isStream }), {
        status: 402,
        code: 'key_credit_exhausted',
        cap: null,
      });
      assert.equal(bench.provider.asked.length, asked);
    }
  });

  it("200 with the route's default cap where the caller names none, and with its own below the floor, without the header", async () => {
    for (const [body, cap] of [
      [{ model: 'mock/default' }, 300],
      [{ model: 'mock/default', max_tokens: 700 }, 700],
      [{ model: 'mock/default', max_tokens: 5_000 }, 1_000],
      [{ model: 'mock/default', max_tokens: 7 }, 7],
    ] as const) {
      assert.equal((await ask(bench.key.secret, body)).cap, null);
      assert.equal(capOf(bench.provider.asked.at(-1) as Asked), cap);
    }
    // A caller's own cap below the floor is not lowered.
    const key = await issueKey(bench.database, { creditLimitMicroPkr: PROMPT + 6n * OUTPUT_TOKEN });
    assert.equal((await ask(key.secret, { max_tokens: 7 })).code, 'key_credit_exhausted');
    assert.equal((await ask(key.secret, { max_tokens: 6 })).status, 200);
  });

  it('402 once the credit is spent, however many asked at once, and never a micro-PKR beyond the limit', async () => {
    bench.provider.script = using((asked) => ({ prompt: 8, completion: capOf(asked) }));
    const limit = 10n * (PROMPT + 400n * OUTPUT_TOKEN);
    const key = await issueKey(bench.database, { creditLimitMicroPkr: limit });
    const caller = async () => {
      while (true) {
        const { status, code } = await ask(key.secret, { max_tokens: 400 });
        const { keyHeld } = await moneyOf(bench.database, key.id);
        assert.ok(keyHeld <= limit, `${keyHeld} of ${limit}`);
        if (status === 402) return;
        assert.ok(status === 200 || code === 'credit_held');
      }
    };
    await Promise.all(Array.from({ length: 8 }, caller));
    const spent = bench.gateway.journal.records
      .filter(({ keyId }) => keyId === key.id)
      .reduce((sum, { costMicroPkr }) => sum + costMicroPkr, 0n);
    assert.ok(spent <= limit && spent > limit - PROMPT - 100n * OUTPUT_TOKEN, `${spent} of ${limit}`);
    assert.equal((await moneyOf(bench.database, key.id)).keyHeld, spent);
  });

  it('429 with the figures and when to come back while requests in flight hold what is left', async () => {
    for (const [whose, money] of [
      ["this API key's credit. Its limit is", { creditLimitMicroPkr: 600_000n }],
      ["the organization's budget. Its deposits are", { depositedMicroPkr: 600_000n }],
    ] as const) {
      const key = await issueKey(bench.database, money);
      await ask(key.secret, { max_tokens: 1 });
      const release = holdAnswers();
      const arrived = bench.provider.next();
      const inFlight = ask(key.secret);
      await arrived;
      const response = await bench.gateway.chat(key.secret, { model: 'mock/low' });
      assert.equal(
        await assertError(response, HELD),
        `Requests in flight hold too much of ${whose} 0.60 PKR: 0.00112 PKR spent, 0.56056 PKR held by requests in flight. This request needs at least 0.05656 PKR. Try again when one of them has finished, or send fewer at once; a shorter prompt or a smaller output limit needs less.`,
      );
      assert.equal(response.headers.get('retry-after'), '1');
      assert.equal(response.headers.get('x-should-retry'), null);
      await bench.assertRecord(response, { status: 429, refusal: 'credit_held', isHeld: false });
      release();
      await inFlight;
      assert.equal((await ask(key.secret)).status, 200);
    }
  });

  it('what held a request that failed is free before its answer, too', async () => {
    const key = await issueKey(bench.database, { creditLimitMicroPkr: PROMPT + 1_000n * OUTPUT_TOKEN });
    const abortResponse: Script = (response) => {
      response.destroy();
    };
    for (const script of [json({ error: { message: 'overloaded' } }, 529), json('no JSON'), abortResponse]) {
      bench.provider.script = script;
      assert.ok((await bench.gateway.chat(key.secret)).status >= 500);
      assert.equal((await moneyOf(bench.database, key.id)).keyHeld, 0n);
    }
  });
});
