import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { analytics, timestampWithZ } from '@gatehouse/contract';
import { type AnalyticsApi, NOW, SECOND, startAnalyticsApi } from '../testing/analytics-api.ts';
import { duringTests } from '../testing/during-tests.ts';
import type { SignedUp } from '../testing/test-api.ts';

describe('GET /analytics/requests with filters', () => {
  const started = duringTests(startAnalyticsApi);

  const add: AnalyticsApi['add'] = (account, rows) => started.add(account, rows);

  /** The ids that a query finds, sorted. The total agrees with them. */
  async function found(account: SignedUp, query: Record<string, string | number>): Promise<string[]> {
    const { requests, total } = await account.client.call(analytics.listRequests, {
      query: { limit: 200, ...query },
    });
    assert.equal(total, requests.length);
    return requests.map((request) => request.req_id).sort();
  }

  it('400 with the accepted values for any other status_category', async () => {
    const { client } = await started.api.signUp();
    for (const status_category of ['9xx', '1xx', '2XX', '2xx ', '200', '2', "2xx' OR '1'='1"]) {
      assert.deepEqual(await client.refused(analytics.listRequests, 400, { query: { status_category } }), {
        error: 'status_category must be one of 2xx, 3xx, 4xx, 5xx.',
      });
    }
  });

  it('200 with the rows of a status category', async () => {
    const account = await started.api.signUp();
    await add(
      account,
      [199, 200, 299, 300, 399, 400, 429, 499, 500, 599, 600].map((status) => ({
        status,
        requestId: String(status),
      })),
    );
    assert.deepEqual(await found(account, { status_category: '2xx' }), ['200', '299']);
    assert.deepEqual(await found(account, { status_category: '3xx' }), ['300', '399']);
    assert.deepEqual(await found(account, { status_category: '4xx' }), ['400', '429', '499']);
    assert.deepEqual(await found(account, { status_category: '5xx' }), ['500', '599']);
    assert.equal((await found(account, { status_category: ' ' })).length, 11);
  });

  it('200 with the rows of a termination reason, and none for an unknown one', async () => {
    const account = await started.api.signUp();
    await add(
      account,
      analytics.TERMINATION_REASONS.map((terminationReason) => ({
        terminationReason,
        requestId: terminationReason,
      })),
    );
    for (const termination_reason of analytics.TERMINATION_REASONS) {
      assert.deepEqual(await found(account, { termination_reason }), [termination_reason]);
    }
    for (const termination_reason of ['Success', 'success ', 'succes%', 'unknown']) {
      assert.deepEqual(await found(account, { termination_reason }), []);
    }
  });

  it('200 with the rows of an error code, of any, and none for an unknown one', async () => {
    const account = await started.api.signUp();
    await add(account, [
      { requestId: 'fine' },
      { requestId: 'refused', status: 429, refusal: 'rate_limit_exceeded' },
      { requestId: 'passed-on', status: 429 },
      { requestId: 'late', terminationReason: 'proxy_guillotine' },
      { requestId: 'broke', terminationReason: 'upstream_stream_aborted' },
      { requestId: 'left', status: 499, terminationReason: 'client_disconnect' },
      { requestId: 'said', upstreamError: 'overloaded' },
    ]);
    for (const [error_code, ids] of [
      ['rate_limit_exceeded', ['refused']],
      ['upstream_429', ['passed-on']],
      ['upstream_timeout', ['late']],
      ['upstream_stream_aborted', ['broke']],
      ['upstream_error', ['said']],
      ['any', ['broke', 'late', 'passed-on', 'refused', 'said']],
      ['ANY', []],
      ['success', []],
      ["' OR '1'='1", []],
    ] as const) {
      assert.deepEqual(await found(account, { error_code }), ids, error_code);
    }
    assert.deepEqual(await found(account, { error_code: 'any', status_category: '4xx' }), [
      'passed-on',
      'refused',
    ]);
    assert.equal((await found(account, { error_code: '' })).length, 7);
  });

  it('200 with the rows of a fixed window, its start included and its end not', async () => {
    const account = await started.api.signUp();
    await add(
      account,
      [0n, 1n, 2n, 3n].map((after) => ({
        requestId: `r${after}`,
        startedAtMicros: NOW - 10n * SECOND + after,
      })),
    );
    const at = (after: bigint) => timestampWithZ(NOW - 10n * SECOND + after);
    assert.deepEqual(await found(account, { from: at(1n), to: at(3n) }), ['r1', 'r2']);
    assert.deepEqual(await found(account, { from: at(2n) }), ['r2', 'r3']);
    for (const query of [
      { from: at(1n), to: at(1n) },
      { from: at(2n), to: at(1n) },
      { to: at(1n) },
      { from: at(1n), time_range: '1h' },
      { from: 'yesterday' },
      { from: '2026-11-20T10:30:00' },
    ] as Record<string, string>[]) {
      const { detail } = await account.client.refused(analytics.listRequests, 400, { query });
      assert.ok(Array.isArray(detail), JSON.stringify(query));
    }
  });

  it('200 with the rows that cost at least so much, to the micro-PKR', async () => {
    const account = await started.api.signUp();
    const costs = [0n, 1n, 99_999n, 100_000n, 100_001n, 9_007_199_254_740_993n];
    await add(
      account,
      costs.map((costMicroPkr, index) => ({ costMicroPkr, requestId: String(index) })),
    );
    assert.deepEqual(await found(account, { min_cost_pkr: '0' }), ['0', '1', '2', '3', '4', '5']);
    assert.deepEqual(await found(account, { min_cost_pkr: '-0' }), ['0', '1', '2', '3', '4', '5']);
    assert.deepEqual(await found(account, { min_cost_pkr: '1e-9' }), ['1', '2', '3', '4', '5']);
    assert.deepEqual(await found(account, { min_cost_pkr: '0.1' }), ['3', '4', '5']);
    assert.deepEqual(await found(account, { min_cost_pkr: '0.1000001' }), ['4', '5']);
    assert.deepEqual(await found(account, { min_cost_pkr: '9007199254.740993' }), ['5']);
    assert.deepEqual(await found(account, { min_cost_pkr: '9007199254.740994' }), []);
    assert.deepEqual(await found(account, { min_cost_pkr: '1e300' }), []);
  });

  it('200 with the rows whose id or metadata contain the literal text', async () => {
    const account = await started.api.signUp();
    await add(account, [
      { requestId: 'req_1' },
      { requestId: 'reqX1', metadata: new Map(Object.entries({ 'Team%': "O'Brien", path: 'C:\\temp' })) },
      {
        requestId: 'reqY2',
        metadata: new Map(Object.entries({ city: 'İzmir ÇALIŞMA', greek: 'ΟΔΟΣΑ', street: 'Straße' })),
      },
    ]);
    for (const [search, ids] of [
      ['req_1', ['req_1']],
      ['REQ', ['reqX1', 'reqY2', 'req_1']],
      ['%', ['reqX1']],
      ['_', ['req_1']],
      ['team%', ['reqX1']],
      ["o'brien", ['reqX1']],
      ["O''Brien", []],
      ['c:\\TEMP', ['reqX1']],
      ['\\', ['reqX1']],
      ['\\\\', []],
      ['\\t', ['reqX1']],
      ['a\t', []],
      ['İZMIR', ['reqY2']],
      ['çalışma', []],
      ['çaliş', ['reqY2']],
      ['ÇALIŞ', ['reqY2']],
      ['οδοσ', ['reqY2']],
      ['ΟΔΟΣ', ['reqY2']],
      ['οδος', ['reqY2']],
      ['STRAßE', ['reqY2']],
      ['reqx1team', []],
      ['reqX1\n', []],
      ["O'Brien\\0", []],
      ["') OR 1=1--", []],
      ['{search:String}', []],
      ['%27', []],
      ['.*', []],
    ] as const) {
      assert.deepEqual(await found(account, { search }), ids, search);
    }
  });

  it('200 without the rows that contain the text only in other fields', async () => {
    const account = await started.api.signUp();
    await add(account, [
      {
        userAgent: 'needle',
        model: 'needle',
        upstreamModel: 'needle',
        upstreamError: 'needle',
        refusal: 'needle',
      },
    ]);
    assert.deepEqual(await found(account, { search: 'needle' }), []);
  });

  it('200 with the text found in a long needle and not found in a longer one', async () => {
    const account = await started.api.signUp();
    const long = "\\'".repeat(512);
    await add(account, [{ requestId: 'long', metadata: new Map([['long', long]]) }]);
    assert.deepEqual(await found(account, { search: long }), ['long']);
    assert.deepEqual(await found(account, { search: long.repeat(2) }), []);
  });
});
