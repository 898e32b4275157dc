import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { analytics } from '@gatehouse/contract';
import type { Attempt } from '@gatehouse/store';
import { NOW, SECOND, signUpWithKey, startAnalyticsApi } from '../testing/analytics-api.ts';
import { duringTests } from '../testing/during-tests.ts';
import { startTestApi } from '../testing/test-api.ts';

/** A UUIDv7 of this time. */
function idAt(micros: bigint): string {
  const time = (micros / 1_000n).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}

const FAILED: Attempt = {
  provider: 'azure',
  upstreamModel: 'gpt-5-mini',
  credential: 'second "key"',
  isByok: false,
  status: null,
  startedMs: 2.5,
  totalMs: 31.125,
  ttftMs: null,
  promptTokens: null,
  tokensGenerated: 0,
  costMicroPkr: 0n,
  ending: 'unreachable',
  error: 'the connection was refused',
};
const SERVED: Attempt = {
  provider: 'openai',
  upstreamModel: 'gpt-5-mini-2026',
  credential: 'own',
  isByok: true,
  status: 200,
  startedMs: 33.75,
  totalMs: 800.001,
  ttftMs: 90.5,
  promptTokens: 10,
  tokensGenerated: 20,
  costMicroPkr: 8_200_001n,
  ending: 'served',
  error: null,
};

describe('GET /analytics/requests/{req_id}', () => {
  const started = duringTests(startAnalyticsApi);

  it('200 with the row as the list has it, and its attempts', async () => {
    const account = await signUpWithKey(started, 'backend');
    const requestId = idAt(NOW);
    await account.add(
      { requestId, attempts: [FAILED, SERVED], metadata: new Map([['__proto__', 'kept']]) },
      { requestId: idAt(NOW) },
    );
    const { client } = account;
    const { requests } = await client.call(analytics.listRequests);
    const listed = requests.find(({ req_id }) => req_id === requestId);
    assert.ok(listed?.key?.name === 'backend' && !('attempts' in listed));
    for (const id of [requestId, requestId.toUpperCase()]) {
      const { attempts, ...row } = await client.call(analytics.showRequest, { params: { req_id: id } });
      assert.deepEqual(row, listed);
      assert.deepEqual(attempts, [
        {
          provider: 'azure',
          upstream_model: 'gpt-5-mini',
          credential: 'second "key"',
          is_byok: 0,
          status: null,
          started_ms: 2.5,
          total_ms: 31.125,
          ttft_ms: null,
          prompt_tokens: null,
          tokens_generated: 0,
          cost_pkr: 0,
          ending: 'unreachable',
          error: 'the connection was refused',
        },
        {
          provider: 'openai',
          upstream_model: 'gpt-5-mini-2026',
          credential: 'own',
          is_byok: 1,
          status: 200,
          started_ms: 33.75,
          total_ms: 800.001,
          ttft_ms: 90.5,
          prompt_tokens: 10,
          tokens_generated: 20,
          cost_pkr: 8.200001,
          ending: 'served',
          error: null,
        },
      ]);
    }
  });

  it('200 without attempts for a request that the gateway rejected, and for a row of several', async () => {
    const account = await signUpWithKey(started);
    const requestId = idAt(NOW - 10n * SECOND);
    await account.add({ requestId, status: 429, refusal: 'rate_limit_exceeded', requestCount: 40 });
    const shown = await account.client.call(analytics.showRequest, { params: { req_id: requestId } });
    assert.deepEqual([shown.attempts, shown.request_count], [[], 40]);
  });

  it('200 for a row whose time differs from that of its id by up to a day', async () => {
    const account = await signUpWithKey(started);
    const hours = (n: bigint) => n * 3_600n * SECOND;
    const ids = [idAt(NOW - hours(23n)), idAt(NOW + hours(23n)), idAt(NOW - hours(25n))] as const;
    await account.add(...ids.map((requestId) => ({ requestId })));
    const statuses = await Promise.all(
      ids.map(
        async (req_id) => (await account.client.send(analytics.showRequest, { params: { req_id } })).status,
      ),
    );
    assert.deepEqual(statuses, [200, 200, 404]);
  });

  it("404 for an unknown id, another organisation's, one without a time, and none that is a UUID", async () => {
    const account = await signUpWithKey(started);
    const other = await signUpWithKey(started);
    const foreign = idAt(NOW);
    const unstoredTimes = ['00000000-0000-7000-8000-000000000000', 'ffffffff-ffff-7fff-bfff-ffffffffffff'];
    await other.add({ requestId: foreign });
    await account.add({ requestId: idAt(NOW) });
    const answers = new Set<string>();
    for (const req_id of [foreign, idAt(NOW), randomUUID(), 'x', '%00', "' OR 1=1", ...unstoredTimes]) {
      const reply = await account.client.send(analytics.showRequest, { params: { req_id } });
      answers.add(`${reply.status} ${reply.text}`);
    }
    assert.deepEqual([...answers], ['404 {"error":"Request not found."}']);
  });

  it('503 while the telemetry store is unavailable', async () => {
    await using api = await startTestApi();
    const { client } = await api.signUp();
    const reply = await client.send(analytics.showRequest, { params: { req_id: idAt(NOW) } });
    assert.deepEqual([reply.status, reply.text], [503, '{"error":"analytics backend unavailable"}']);
  });
});
