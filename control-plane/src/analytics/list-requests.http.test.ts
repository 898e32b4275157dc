import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { analytics, keys, organization } from '@gatehouse/contract';
import { runSql } from '@gatehouse/store/testing';
import { type AnalyticsApi, NOW, SECOND, startAnalyticsApi } from '../testing/analytics-api.ts';
import { duringTests } from '../testing/during-tests.ts';
import type { SignedUp } from '../testing/test-api.ts';

describe('GET /analytics/requests', () => {
  const started = duringTests(startAnalyticsApi);

  const add: AnalyticsApi['add'] = (account, rows) => started.add(account, rows);

  const list = ({ client }: SignedUp, query: Record<string, string | number> = {}) =>
    client.call(analytics.listRequests, { query });

  it('200 with an empty page of an empty window', async () => {
    assert.deepEqual(await list(await started.api.signUp()), {
      total: 0,
      limit: 50,
      offset: 0,
      requests: [],
    });
  });

  it('200 with every field as it was logged', async () => {
    const account = await started.api.signUp();
    const { projects } = await account.client.call(organization.listProjects);
    const key = await account.client.call(keys.createKey, {
      body: { project_id: projects[0]?.id, name: 'backend' },
    });
    // Parsed, because an assignment to the second name would set the prototype instead.
    const metadata = JSON.parse('{"team":"red \\"quoted\\" \\\\ back","__proto__":"kept","constructor":""}');
    await add(account, [
      {
        requestId: 'req-1',
        startedAtMicros: NOW - 1n,
        keyId: key.id,
        projectId: projects[0]?.id ?? null,
        model: 'a/one',
        status: 502,
        isStream: true,
        totalMs: 1234.5,
        ttftMs: 100.25,
        tpotMs: 0.1,
        preDispatchMs: 2.5,
        promptTokens: Number.MAX_SAFE_INTEGER,
        tokensGenerated: 20,
        cacheCreationInputTokens: 0,
        cacheReadInputTokens: 7,
        totalTokens: 27,
        tokensEstimated: true,
        costMicroPkr: 8_200_001n,
        isByok: true,
        terminationReason: 'upstream_stream_aborted',
        refusal: 'x',
        upstreamError: 'connection\nreset',
        upstreamModel: 'one-2026',
        userAgent: 'café/1.0 <b>',
        metadata: new Map(Object.entries(metadata)),
      },
    ]);
    const reply = await account.client.send(analytics.listRequests);
    assert.deepEqual(JSON.parse(reply.text), {
      total: 1,
      limit: 50,
      offset: 0,
      requests: [
        {
          req_id: 'req-1',
          timestamp: '2026-11-20T10:30:00.123455Z',
          model: 'a/one',
          status: 502,
          stream: true,
          key: { id: key.id, name: 'backend' },
          project: { id: projects[0]?.id, name: 'Default' },
          metrics: {
            total_ms: 1234.5,
            ttft_ms: 100.25,
            tpot_ms: 0.1,
            pre_dispatch_ms: 2.5,
            prompt_tokens: Number.MAX_SAFE_INTEGER,
            tokens_generated: 20,
            cache_creation_input_tokens: 0,
            cache_read_input_tokens: 7,
            total_tokens: 27,
            tokens_estimated: true,
          },
          financials: { cost_pkr: 8.200001, is_byok: 1 },
          status_detail: {
            termination_reason: 'upstream_stream_aborted',
            upstream_error: 'connection\nreset',
          },
          upstream: { model: 'one-2026' },
          user_agent: 'café/1.0 <b>',
          metadata,
        },
      ],
    });
    assert.ok(reply.text.includes('"__proto__":"kept"'));
  });

  it('200 with null for unknown values, never 0 or an empty text', async () => {
    const account = await started.api.signUp();
    await add(account, [
      {
        keyId: null,
        projectId: null,
        promptTokens: null,
        cacheCreationInputTokens: null,
        cacheReadInputTokens: null,
        upstreamModel: null,
        upstreamError: null,
      },
    ]);
    const [row] = (await list(account)).requests;
    assert.ok(row);
    assert.deepEqual([row.key, row.project, row.upstream], [null, null, null]);
    const { ttft_ms, tpot_ms, prompt_tokens, cache_creation_input_tokens, cache_read_input_tokens } =
      row.metrics;
    assert.deepEqual(
      [ttft_ms, tpot_ms, prompt_tokens, cache_creation_input_tokens, cache_read_input_tokens],
      [null, null, null, null, null],
    );
    assert.equal(row.status_detail.upstream_error, null);
    assert.deepEqual(row.metadata, {});
  });

  it('200 with current names: null for a revoked key and for a deleted project', async () => {
    const account = await started.api.signUp();
    const { projects } = await account.client.call(organization.listProjects);
    const mint = (name: string) =>
      account.client.call(keys.createKey, { body: { project_id: projects[0]?.id, name } });
    const [kept, revoked] = [await mint('kept'), await mint('revoked')];
    const [deleted] = await runSql<{ id: string }>(started.api.database)`
      INSERT INTO projects (organization_id, name) VALUES (${account.organizationId}, ${'deleted'}) RETURNING id`;
    assert.ok(deleted);
    await add(account, [
      { requestId: '2', keyId: kept.id, projectId: projects[0]?.id ?? null },
      { requestId: '1', keyId: revoked.id, projectId: deleted.id },
    ]);
    const named = async () =>
      (await list(account)).requests.map((row) => [row.key?.name ?? null, row.project?.name ?? null]);
    assert.deepEqual(await named(), [
      ['kept', 'Default'],
      ['revoked', 'deleted'],
    ]);
    await account.client.call(keys.revokeKey, { params: { key_id: revoked.id } });
    await runSql(started.api.owner)`DELETE FROM projects WHERE id = ${deleted.id}`;
    const { requests } = await list(account);
    assert.deepEqual(requests[1]?.key, { id: revoked.id, name: null });
    assert.deepEqual(requests[1]?.project, { id: deleted.id, name: null });
    const { requests: ofKey } = await list(account, { key_id: revoked.id });
    assert.deepEqual(ofKey, requests.slice(1));
  });

  it('200 with the newest first, the id deciding between equals, however it is paged', async () => {
    const account = await started.api.signUp();
    const rows = Array.from({ length: 30 }, (_, index) => ({
      requestId: `r${String((index * 7) % 30).padStart(2, '0')}`,
      startedAtMicros: NOW - BigInt(index % 4) * SECOND,
    }));
    await add(account, rows.slice(0, 10));
    await add(account, rows.slice(10));
    const expected = rows
      .toSorted(
        (a, b) => Number(b.startedAtMicros - a.startedAtMicros) || (a.requestId > b.requestId ? -1 : 1),
      )
      .map((row) => row.requestId);
    const { requests } = await list(account);
    assert.deepEqual(
      requests.map((row) => row.req_id),
      expected,
    );
    const paged: string[] = [];
    for (let offset = 0; offset < 35; offset += 7) {
      const page = await list(account, { limit: 7, offset });
      assert.deepEqual([page.total, page.limit, page.offset], [30, 7, offset]);
      paged.push(...page.requests.map((row) => row.req_id));
    }
    assert.deepEqual(paged, expected);
  });

  it('200 with at most 200 rows, and that limit in the reply', async () => {
    const account = await started.api.signUp();
    await add(
      account,
      Array.from({ length: 205 }, () => ({})),
    );
    for (const limit of [200, 201, 999_999, Number.MAX_SAFE_INTEGER]) {
      const page = await list(account, { limit });
      assert.deepEqual([page.limit, page.total, page.requests.length], [200, 205, 200]);
    }
    const page = await list(account, { limit: '', offset: ' ' });
    assert.deepEqual([page.limit, page.offset, page.requests.length], [50, 0, 50]);
  });

  it('200 with the total and no rows past the end, however far', async () => {
    const account = await started.api.signUp();
    await add(account, [{}, {}, {}]);
    for (const offset of [3, 4, 2_000_000_000, Number.MAX_SAFE_INTEGER]) {
      assert.deepEqual(await list(account, { offset }), { total: 3, limit: 50, offset, requests: [] });
    }
    assert.equal((await list(account, { offset: 2 })).requests.length, 1);
  });

  // `paging.test.ts` and `money.test.ts` of the contract have every value.
  it('400 with the issue for an invalid limit, offset or min_cost_pkr', async () => {
    const { client } = await started.api.signUp();
    for (const [name, value] of Object.entries({ limit: '0', offset: '-1', min_cost_pkr: '-0.0000001' })) {
      const body = await client.refused(analytics.listRequests, 400, { query: { [name]: value } });
      assert.deepEqual((body['detail'] as { loc: string[] }[])[0]?.loc, ['query', name]);
    }
  });
});
