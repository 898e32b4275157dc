import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { KeyId } from '@gatehouse/contract';
import { assertError, useBench } from '../testing/bench.ts';
import { completion, json } from '../testing/mock-provider.ts';
import { addRoute, issueKey, moneyOf } from '../testing/test-gateway.ts';
import { storeVaultKey } from '../testing/vault-key.ts';

const OUTPUT_TOKEN = 560n;

const bench = await useBench();

describe('a prompt with a part whose tokens cannot be counted', () => {
  const picture = (text = 'Hi', type = 'image_url') => ({
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text },
          { type, [type]: { url: 'data:image/png;base64,AA' } },
        ],
      },
    ],
    max_tokens: 10,
  });
  const OUTPUT = 10n * OUTPUT_TOKEN;
  before(async () => {
    bench.provider.script = json(completion('x', { prompt: 8, completion: 1 }));
    const { baseUrl } = bench.provider;
    await addRoute(bench.database, { id: 'mock/pictures', baseUrl, maxInputTokens: 50_000 });
  });
  /** What a request holds while the provider is at it. */
  const heldBy = async (key: { secret: string; id: KeyId }, body: object) => {
    const { script } = bench.provider;
    let held: bigint | undefined;
    bench.provider.script = async (response, asked) => {
      held = (await moneyOf(bench.database, key.id)).keyHeld;
      await script(response, asked);
    };
    const response = await bench.gateway.chat(key.secret, body);
    await response.text();
    assert.equal(response.status, 200);
    bench.provider.script = script;
    return held;
  };

  it('200 holds the whole context that the route states, or the prompt where that is longer', async () => {
    const key = await issueKey(bench.database);
    const body = { model: 'mock/pictures', ...picture() };
    assert.equal(await heldBy(key, body), 50_000n * 70n + OUTPUT);
    const other = await issueKey(bench.database);
    const long = { model: 'mock/pictures', ...picture('one two '.repeat(30_000)) };
    assert.ok(((await heldBy(other, long)) ?? 0n) > 60_000n * 70n + OUTPUT);
    const poor = await issueKey(bench.database, { creditLimitMicroPkr: 50_000n * 70n + OUTPUT - 1n });
    const refusal = { status: 402, code: 'key_credit_exhausted', type: 'insufficient_quota' };
    const message = await assertError(await bench.gateway.chat(poor.secret, body), refusal);
    assert.match(
      message,
      /Ask for a higher limit; without parts of the type image_url it needs less: they cannot be counted .+ all 50000 tokens/,
    );
  });

  it('400 by its name on platform capacity where the route states none, and 200 with the organisation’s own key', async () => {
    const asked = bench.provider.asked.length;
    for (const type of ['image_url', 'input_audio', 'file', 'hologram']) {
      const response = await bench.gateway.chat(bench.key.secret, picture('Hi', type));
      const refusal = {
        status: 400,
        code: 'invalid_request',
        type: 'invalid_request_error',
        param: 'messages',
      };
      assert.match(await assertError(response, refusal), new RegExp(`${type}.*max_input_tokens`));
    }
    assert.equal(bench.provider.asked.length, asked);
    const own = await issueKey(bench.database, { depositedMicroPkr: 0n });
    await storeVaultKey(bench.database, own, 'provider of mock/model', 'sk-own-0123456789');
    // 5 % of 2,000 tokens for the picture, a few for the rest, and the output.
    const held = (await heldBy(own, { model: 'mock/model', ...picture() })) ?? 0n;
    assert.ok(held > (2_000n * 70n + OUTPUT) / 20n && held < (2_020n * 70n + OUTPUT) / 20n, String(held));
  });
});
