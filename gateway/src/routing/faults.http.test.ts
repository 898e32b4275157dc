import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { settle, settlementOf } from '../journal/settle.ts';
import { useBench } from '../testing/bench.ts';
import {
  chunk,
  completion,
  DONE,
  delta,
  json,
  type MockProvider,
  type Script,
  sse,
  startMockProvider,
  usageOf,
} from '../testing/mock-provider.ts';
import { addRoute, issueKey, moneyOf } from '../testing/test-gateway.ts';
import { ERROR, FAULTS, type Seen } from './faults.fixture.ts';

// Each fault of a provider, with one target, with a second one that works, and with two that both fail: what the caller
// sees, what was tried, and what it cost, on the record and in the database.

const bench = await useBench();

const TIMEOUT_MS = 41_000;
const ATTEMPT_TIMEOUT_MS = 7_000;
// 11 tokens of a prompt and 5 of an answer, at the prices of the first and of the second target.
const USAGE = { prompt: 11, completion: 5 };
const FIRST_PRICES = { inputMicroPkrPerMillion: 70_000_000n, outputMicroPkrPerMillion: 560_000_000n };
const FIRST_COST = 11n * 70n + 5n * 560n;
const SECOND_PRICES = { inputMicroPkrPerMillion: 90_000_000n, outputMicroPkrPerMillion: 700_000_000n };
const SECOND_COST = 11n * 90n + 5n * 700n;

const SERVED = 'Hello there.';
const served: Script = (response, asked) =>
  asked.body['stream'] === true
    ? sse(chunk(delta(SERVED)), chunk({ ...delta('', 'stop'), usage: usageOf(USAGE) }), DONE)(response, asked)
    : json(completion(SERVED, USAGE))(response, asked);

describe('a provider that fails', () => {
  let first: MockProvider;
  let second: MockProvider;
  let closedUrl: string;
  before(async () => {
    first = await startMockProvider();
    second = await startMockProvider();
    closedUrl = `http://127.0.0.1:${await closedPort()}/v1`;
  });
  after(async () => {
    await first[Symbol.asyncDispose]();
    await second[Symbol.asyncDispose]();
  });

  let routes = 0;
  /** A route to providers of its own, so that no breaker is open. */
  async function addTargets(scripts: readonly (Script | undefined)[]): Promise<string> {
    routes += 1;
    const id = `faults/${routes}`;
    await addRoute(bench.database, {
      id,
      timeoutMs: TIMEOUT_MS,
      attemptTimeoutMs: ATTEMPT_TIMEOUT_MS,
      maxOutputTokens: 100,
      targets: scripts.map((script, index) => {
        const provider = index === 0 ? first : second;
        if (script) provider.script = script;
        return {
          baseUrl: script ? provider.baseUrl : closedUrl,
          provider: `${id} ${index + 1}`,
          upstreamModel: `model-${index + 1}`,
          priority: index + 1,
          ...(index === 0 ? FIRST_PRICES : SECOND_PRICES),
        };
      }),
    });
    return id;
  }

  /** Asks the route, lets the time limits pass on which it waits, and checks the money. */
  async function ask(id: string, stream: boolean, limitsMs: readonly number[], showsHead = false) {
    const key = await issueKey(bench.database);
    const { time } = bench.gateway;
    const answering = bench.gateway.chat(key.secret, { model: id, stream, max_tokens: 5 });
    for (const limitMs of limitsMs) {
      await time.started(limitMs);
      // The caller has the head of the last attempt before nothing more happens.
      if (limitMs === TIMEOUT_MS && showsHead) await answering;
      time.fire(limitMs);
    }
    const response = await answering;
    const text = await response.text();
    const record = await bench.recordOf(response);
    const money = await moneyOf(bench.database, key.id);
    assert.equal(money.keyHeld, record.costMicroPkr, 'the hold was lowered to the cost');
    const settlement = settlementOf(record);
    await settle(bench.owner, settlement ? [settlement, settlement] : []);
    const settled = await moneyOf(bench.database, key.id);
    assert.deepEqual([settled.keySpent, settled.keyHeld, settled.holds], [record.costMicroPkr, 0n, 0n]);
    const costs = record.attempts.map(({ costMicroPkr }) => costMicroPkr);
    assert.equal(
      record.costMicroPkr,
      costs.reduce((sum, cost) => sum + cost, 0n),
    );
    return { response, text, record };
  }

  type Answer = Awaited<ReturnType<typeof ask>>;
  const shown = ({ record }: Answer) =>
    record.attempts.map(({ provider, ending, status, costMicroPkr }) => [
      provider.slice(-1),
      ending,
      // Whether a head came before the time limit is up to chance.
      ending === 'timed_out' ? null : status,
      costMicroPkr,
    ]);
  const assertSeen = ({ response, text, record }: Answer, seen: Seen) => {
    assert.equal(response.status, seen.status, text);
    assert.ok(text.includes(seen.includes), text);
    assert.equal(record.refusal, seen.refusal ?? '');
    for (const [name, value] of Object.entries(seen.headers ?? {}))
      assert.equal(response.headers.get(name), value);
  };

  for (const fault of FAULTS) {
    const { name, stream, script, seen, ending, status, hangs, showsHead, costs = [0n, 0n], isFinal } = fault;
    const [firstCost, secondCost] = costs;
    const title = `${name} (stream: ${stream})`;

    it(`${seen.status} with one target that ${title}`, async () => {
      const id = await addTargets([script]);
      const answer = await ask(id, stream, hangs ? [TIMEOUT_MS] : [], showsHead);
      assertSeen(answer, seen);
      assert.deepEqual(shown(answer), [['1', ending, status, firstCost]]);
    });

    if (isFinal) {
      it(`${seen.status} with two targets of which the first ${title}, and nothing follows`, async () => {
        const answer = await ask(await addTargets([script, served]), stream, []);
        assertSeen(answer, seen);
        assert.deepEqual(shown(answer), [['1', ending, status, firstCost]]);
      });
      continue;
    }

    it(`200 from the second of two targets where the first ${title}`, async () => {
      const id = await addTargets([script, served]);
      const answer = await ask(id, stream, hangs ? [ATTEMPT_TIMEOUT_MS] : []);
      assertSeen(answer, { status: 200, includes: SERVED });
      assert.ok(!answer.text.includes('overloaded'), answer.text);
      assert.deepEqual(shown(answer), [
        ['1', ending, status, firstCost],
        ['2', 'served', 200, SECOND_COST],
      ]);
      assert.deepEqual(
        [answer.record.upstreamModel, answer.record.promptTokens, answer.record.tokensGenerated],
        ['model-2', 11, 5],
      );
    });

    it(`${seen.status} with two targets that both: ${title}`, async () => {
      const id = await addTargets([script, script]);
      const answer = await ask(id, stream, hangs ? [ATTEMPT_TIMEOUT_MS, TIMEOUT_MS] : [], showsHead);
      assertSeen(answer, seen);
      assert.deepEqual(shown(answer), [
        ['1', ending, status, firstCost],
        ['2', ending, status, secondCost],
      ]);
    });
  }

  it('200 from the first target where it works', async () => {
    for (const stream of [false, true]) {
      const answer = await ask(await addTargets([served, served]), stream, []);
      assertSeen(answer, { status: 200, includes: SERVED });
      assert.deepEqual(shown(answer), [['1', 'served', 200, FIRST_COST]]);
    }
  });

  for (const status of [400, 404, 413, 422]) {
    it(`${status} as it came, and nothing follows: another target would say the same`, async () => {
      const answer = await ask(await addTargets([json(ERROR, status), served]), false, []);
      assertSeen(answer, { status, includes: JSON.stringify(ERROR) });
      assert.deepEqual(shown(answer), [['1', 'error_status', status, 0n]]);
    });
  }
});

/** A port on which nothing listens. */
async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  assert.ok(address && typeof address === 'object');
  return address.port;
}
