import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { chunk, completion, json, type Script, sse, usageOf } from '../testing/mock-provider.ts';
import { addRoute, issueKey, moneyOf } from '../testing/test-gateway.ts';
import { endings, failing, served, useRouting } from './routing.fixture.ts';

const bench = await useRouting();
const { gateway, first, second } = bench;

// Prices in micro-PKR for a token. The prompt `Hi` is counted as 8 tokens.
const CHEAP = { inputMicroPkrPerMillion: 10_000_000n, outputMicroPkrPerMillion: 100_000_000n };
const DEAR = { inputMicroPkrPerMillion: 20_000_000n, outputMicroPkrPerMillion: 300_000_000n };
const cheap = (prompt: bigint, output: bigint) => prompt * 10n + output * 100n;
const dear = (prompt: bigint, output: bigint) => prompt * 20n + output * 300n;

let routes = 0;
/** A route to a cheap target and a dear one, in this order. */
async function addPriced(): Promise<string> {
  routes += 1;
  const id = `hold/${routes}`;
  first.script = served;
  second.script = served;
  await addRoute(bench.database, {
    id,
    maxOutputTokens: 100,
    minOutputTokens: 2,
    targets: [
      { provider: `${id} cheap`, baseUrl: first.baseUrl, priority: 1, ...CHEAP },
      { provider: `${id} dear`, baseUrl: second.baseUrl, priority: 2, ...DEAR },
    ],
  });
  return id;
}

/** An error before any content, after usage that the provider bills. */
const billedError: Script = sse(
  chunk({ choices: [], usage: usageOf({ prompt: 9, completion: 0 }) }),
  'data: {"error":{"message":"overloaded"}}\n\n',
);

describe('the hold of a request with several targets', () => {
  it('200 under one hold that covers the dearest', async () => {
    const id = await addPriced();
    const key = await issueKey(bench.database);
    let held: bigint | undefined;
    first.script = async (response, asked) => {
      held = (await moneyOf(bench.database, key.id)).keyHeld;
      return served(response, asked);
    };
    const response = await gateway.chat(key.secret, { model: id, max_tokens: 5 });
    assert.equal(response.status, 200);
    await response.text();
    assert.equal(held, dear(8n, 5n));
    const money = await moneyOf(bench.database, key.id);
    assert.deepEqual([money.holds, money.keyHeld], [1n, cheap(11n, 5n)]);
  });

  it('200 with the sum of what was billed: that of a failed attempt too', async () => {
    const id = await addPriced();
    const key = await issueKey(bench.database);
    first.script = billedError;
    const response = await gateway.chat(key.secret, { model: id, max_tokens: 5, stream: true });
    second.script = served;
    await response.text();
    const record = await bench.recordOf(response);
    const costs = record.attempts.map(({ costMicroPkr, promptTokens }) => [costMicroPkr, promptTokens]);
    assert.equal(costs.length, 2);
    assert.deepEqual(costs[0], [cheap(9n, 0n), 9]);
    const sum = record.attempts.reduce((all, { costMicroPkr }) => all + costMicroPkr, 0n);
    assert.equal(record.costMicroPkr, sum);
    assert.equal((await moneyOf(bench.database, key.id)).keyHeld, sum);
    // Of the answer that was served.
    assert.deepEqual([record.promptTokens, record.tokensGenerated], [costs[1]?.[1], 5]);
  });

  it('200 with a cap that what is left of the hold pays for', async () => {
    const id = await addPriced();
    const key = await issueKey(bench.database, { creditLimitMicroPkr: dear(8n, 5n) });
    first.script = billedError;
    const response = await gateway.chat(key.secret, { model: id, max_tokens: 5, stream: true });
    await response.text();
    // 90 were used up: of the five tokens at 300 each, four are left.
    assert.equal(second.asked.at(-1)?.body['max_completion_tokens'], 4);
    assert.equal(response.headers.get('x-gatehouse-output-limit'), '4');
  });

  it('the error of the first where what is left does not pay for the second', async () => {
    const id = await addPriced();
    // Two tokens at least, and the prompt; after the first attempt that is not there any more.
    const key = await issueKey(bench.database, { creditLimitMicroPkr: dear(8n, 2n) });
    first.script = billedError;
    const response = await gateway.chat(key.secret, { model: id, max_tokens: 5, stream: true });
    assert.match(await response.text(), /overloaded/);
    const record = await bench.recordOf(response);
    assert.deepEqual(endings(record), ['default error_event']);
    assert.equal(record.costMicroPkr, cheap(9n, 0n));
  });

  it('200 from the cheap target where the credit does not cover the dear one, which is not tried', async () => {
    const id = await addPriced();
    const key = await issueKey(bench.database, { creditLimitMicroPkr: cheap(8n, 5n) });
    const response = await gateway.chat(key.secret, { model: id, max_tokens: 5 });
    assert.equal(response.status, 200);
    await response.text();
    first.script = failing;
    const poor = await issueKey(bench.database, { creditLimitMicroPkr: cheap(8n, 5n) });
    const failed = await gateway.chat(poor.secret, { model: id, max_tokens: 5 });
    assert.equal(failed.status, 500);
    await failed.text();
    assert.deepEqual(endings(await bench.recordOf(failed)), ['default error_status']);
  });

  it('402 where the credit covers none, with what the cheapest needs', async () => {
    const id = await addPriced();
    const key = await issueKey(bench.database, { creditLimitMicroPkr: cheap(8n, 1n) });
    const response = await gateway.chat(key.secret, { model: id, max_tokens: 5 });
    assert.equal(response.status, 402);
    assert.match(await response.text(), /needs at least 0\.00028 PKR/);
  });

  it('200 from the second where the first refuses a member that its price does not cover', async () => {
    await addRoute(bench.database, {
      id: 'hold/denied',
      targets: [
        {
          provider: 'denying',
          baseUrl: first.baseUrl,
          priority: 1,
          deny: [{ member: 'service_tier', values: null }],
        },
        { provider: 'allowing', baseUrl: second.baseUrl, priority: 2, deny: [] },
      ],
    });
    const key = await issueKey(bench.database);
    second.script = json(completion('x', { prompt: 1, completion: 1 }));
    const body = { model: 'hold/denied', service_tier: 'priority' };
    const response = await gateway.chat(key.secret, body);
    assert.equal(response.status, 200);
    await response.text();
    const record = await bench.recordOf(response);
    assert.deepEqual(
      record.attempts.map(({ provider }) => provider),
      ['allowing'],
    );
  });
});
