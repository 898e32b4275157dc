import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { analytics, keys, organization } from '@gatehouse/contract';
import { statement } from '@gatehouse/store';
import { type AnalyticsApi, startAnalyticsApi } from '../testing/analytics-api.ts';
import type { SignedUp, TestApi } from '../testing/test-api.ts';

const insertProject = statement<{ id: string }>(
  'test-insert-project',
  `INSERT INTO projects (organization_id, name) VALUES ($1, $2) RETURNING id`,
);

describe('GET /analytics/requests with filters', () => {
  let started: AnalyticsApi;
  let api: TestApi;
  before(async () => {
    started = await startAnalyticsApi();
    api = started.api;
  });
  after(() => started[Symbol.asyncDispose]());

  const add: AnalyticsApi['add'] = (account, rows) => started.add(account, rows);

  /** The ids that a question finds, sorted; the total agrees with them. */
  async function found(account: SignedUp, query: Record<string, string | number>): Promise<string[]> {
    const { requests, total } = await account.client.call(analytics.listRequests, {
      query: { limit: 200, ...query },
    });
    assert.equal(total, requests.length);
    return requests.map((request) => request.req_id).sort();
  }

  it('400 with the sentence that names the four for any other status_category', async () => {
    const { client } = await api.signUp();
    for (const status_category of ['9xx', '1xx', '2XX', '2xx ', '200', '2', "2xx' OR '1'='1"]) {
      assert.deepEqual(await client.refused(analytics.listRequests, 400, { query: { status_category } }), {
        error: 'status_category must be one of 2xx, 3xx, 4xx, 5xx.',
      });
    }
  });

  it('200 with the rows of a status category', async () => {
    const account = await api.signUp();
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
    const account = await api.signUp();
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

  it('200 with the rows that cost at least so much, to the micro-PKR', async () => {
    const account = await api.signUp();
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

  it('200 with the rows of exactly that model', async () => {
    const account = await api.signUp();
    await add(account, [
      { requestId: '1', model: 'a/one' },
      { requestId: '2', model: 'a/one-more', upstreamModel: 'a/one' },
    ]);
    assert.deepEqual(await found(account, { model: 'a/one' }), ['1']);
    assert.deepEqual(await found(account, { model: 'a/on_' }), []);
    assert.deepEqual(await found(account, { model_alias: 'a/one' }), ['1', '2']);
  });

  it('200 with the rows whose id or metadata hold the text, which stands for itself', async () => {
    const account = await api.signUp();
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

  it('200 without the rows that hold the text anywhere else', async () => {
    const account = await api.signUp();
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
    const account = await api.signUp();
    const long = "\\'".repeat(512);
    await add(account, [{ requestId: 'long', metadata: new Map([['long', long]]) }]);
    assert.deepEqual(await found(account, { search: long }), ['long']);
    assert.deepEqual(await found(account, { search: long.repeat(2) }), []);
  });

  it('200 with nothing of another organisation, whatever is sent', async () => {
    const [account, stranger] = [await api.signUp(), await api.signUp()];
    await add(stranger, [
      { requestId: 'canary', model: 'canary', metadata: new Map([['canary', 'canary']]) },
    ]);
    for (const text of [
      "'",
      '"',
      '\\',
      "\\'",
      "') OR 1=1--",
      "' OR organization_id != '",
      '{organization_id:UUID}',
      '%27',
      '\u2028',
      '`',
      ';SELECT 1',
      '/*',
      '\n',
      '\\N',
      stranger.organizationId,
    ]) {
      for (const name of ['model', 'termination_reason', 'search']) {
        // Blank by itself is as good as left out.
        assert.deepEqual(await found(account, { [name]: `${text}x` }), [], `${name}=${text}`);
      }
      const model_alias = `${text}x`;
      const summary = await account.client.call(analytics.getSummary, { query: { model_alias } });
      assert.equal(summary.total_requests, 0);
      for (const name of ['project_id', 'key_id']) {
        for (const endpoint of [analytics.getSummary, analytics.listRequests]) {
          await account.client.refused(endpoint, 404, { query: { [name]: `${text}x` } });
        }
      }
    }
    assert.deepEqual(await found(account, {}), []);
    assert.deepEqual(await found(account, { search: 'canary' }), []);
  });

  it('400 with the fault for U+0000 and for a parameter given twice', async () => {
    const { client } = await api.signUp();
    const cookie = [...client.cookies].map((pair) => pair.join('=')).join('; ');
    for (const search of ['search=a%00b', 'search=a&search=b', 'limit=1&limit=200', 'key_id=%00']) {
      const path = `/api/analytics/requests?${search}`;
      const reply = await client.raw({ method: 'GET', path, headers: { cookie } });
      assert.equal(reply.status, 400, reply.text);
      assert.ok('detail' in JSON.parse(reply.text));
    }
  });

  it('200 with the rows of a project and of a key, and none where the one does not hold the other', async () => {
    const account = await api.signUp();
    const { projects } = await account.client.call(organization.listProjects);
    const first = projects[0]?.id ?? assert.fail('no first project');
    const second = (await api.database.one(insertProject, [account.organizationId, 'second']))?.id ?? '';
    const key = await account.client.call(keys.createKey, { body: { project_id: first, name: 'k' } });
    await add(account, [
      { requestId: '1', projectId: first, keyId: key.id },
      { requestId: '2', projectId: second, keyId: randomUUID() },
      { requestId: '3' },
    ]);
    assert.deepEqual(await found(account, { project_id: first }), ['1']);
    assert.deepEqual(await found(account, { project_id: second }), ['2']);
    assert.deepEqual(await found(account, { key_id: key.id }), ['1']);
    assert.deepEqual(await found(account, { key_id: key.id, project_id: first }), ['1']);
    assert.deepEqual(await found(account, { key_id: key.id, project_id: second }), []);
  });
});
