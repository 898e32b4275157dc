import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertError, useBench } from '../testing/bench.ts';
import { json } from '../testing/mock-provider.ts';
import { addRoute, issueKey, PLATFORM_KEY } from '../testing/test-gateway.ts';
import { storeVaultKey } from '../testing/vault-key.ts';

const bench = await useBench();

describe("a provider's errors", () => {
  for (const status of [401, 403] as const) {
    for (const stream of [false, true]) {
      it(`502 that names the provider for its ${status} to the platform's credential (stream: ${stream})`, async () => {
        const body = { error: { message: `Incorrect API key provided: ${PLATFORM_KEY}` } };
        bench.provider.script = json(body, status);
        const response = await bench.gateway.chat(bench.key.secret, { stream });
        assert.equal(response.headers.get('x-should-retry'), 'false');
        assert.equal(response.headers.get('x-gatehouse-error-source'), null);
        const message = await assertError(response, {
          status: 502,
          code: 'upstream_error',
          type: 'upstream_error',
        });
        assert.match(message, /^The provider provider of mock\/model rejected this gateway's credential/);
        const record = await bench.assertRecord(response, {
          status: 502,
          refusal: 'upstream_error',
          terminationReason: 'success',
          upstreamError: `answered ${status} to the platform's credential`,
          costMicroPkr: 0n,
        });
        const logged = bench.gateway.logged.find(
          (line) =>
            line['event'] === 'provider.credential_rejected' && line['request_id'] === record.requestId,
        );
        const { level, provider, route, status: theirs, upstream_error: said } = logged ?? {};
        assert.deepEqual(
          [level, provider, route, theirs, said],
          [50, 'provider of mock/model', 'mock/model', status, 'Incorrect API key provided: [redacted]'],
        );
      });
    }

    it(`${status} as it came with the organisation's own key for the provider`, async () => {
      const key = await issueKey(bench.database);
      await storeVaultKey(bench.database, key, 'provider of mock/model', 'sk-own-0123456789');
      bench.provider.script = json({ error: { message: 'no' } }, status);
      const response = await bench.gateway.chat(key.secret);
      assert.equal(response.status, status);
      assert.equal(response.headers.get('x-gatehouse-error-source'), 'provider');
      assert.deepEqual(await response.json(), { error: { message: 'no' } });
    });
  }

  it("502 for an error in place of an answer, in the provider's words, costs nothing", async () => {
    bench.provider.script = json({ error: { message: 'overloaded', code: 529 } }, 200);
    const response = await bench.gateway.chat(bench.key.secret);
    assert.equal(response.status, 502);
    assert.match(await response.text(), /overloaded/);
    await bench.assertRecord(response, { costMicroPkr: 0n, upstreamError: 'overloaded' });
  });

  it("502 for a provider without a credential that asks for one: that is the operator's too", async () => {
    await addRoute(bench.database, { id: 'mock/open', baseUrl: bench.provider.baseUrl, apiKeyEnv: null });
    bench.provider.script = json({ error: 'log in' }, 401);
    const response = await bench.gateway.chat(bench.key.secret, { model: 'mock/open' });
    assert.equal(response.status, 502);
  });

  it("429 marked as the provider's, with its wait, beside the limits of the caller's own key", async () => {
    bench.provider.script = json({ error: { message: 'slow down' } }, 429, {
      'retry-after': '7',
      'x-ratelimit-remaining-tokens': '0',
    });
    const response = await bench.gateway.chat(bench.key.secret);
    assert.equal(response.status, 429);
    const { headers } = response;
    assert.equal(headers.get('x-gatehouse-error-source'), 'provider');
    assert.equal(headers.get('retry-after'), '7');
    assert.equal(headers.get('x-upstream-ratelimit-remaining-tokens'), '0');
    assert.equal(headers.get('x-ratelimit-limit-requests'), '1000');
  });
});
