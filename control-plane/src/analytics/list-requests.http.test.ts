import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { analytics, keys, organization } from '@gatehouse/contract';
import { type RequestLogRow, statement } from '@gatehouse/store';
import { createTestTelemetry, type TestTelemetry } from '@gatehouse/store/testing';
import { addRequests, requestRow } from '../testing/requests.ts';
import { type SignedUp, startTestApi, type TestApi } from '../testing/test-api.ts';

// 2026-11-20T10:30:00.123456Z
const NOW = 1_795_170_600_123_456n;
const SECOND = 1_000_000n;

const insertProject = statement<{ id: string }>(
  'test-insert-project',
  `INSERT INTO projects (organization_id, name) VALUES ($1, $2) RETURNING id`,
);
const deleteProject = statement('test-delete-project', `DELETE FROM projects WHERE id = $1`);

describe('GET /analytics/requests', () => {
  let stack: AsyncDisposableStack;
  let telemetry: TestTelemetry;
  let api: TestApi;
  before(async () => {
    stack = new AsyncDisposableStack();
    telemetry = stack.use(await createTestTelemetry());
    api = stack.use(await startTestApi({}, { telemetry: telemetry.client, nowMicros: () => NOW }));
  });
  after(() => stack.disposeAsync());

  const add = (account: SignedUp, rows: Partial<RequestLogRow>[]) =>
    addRequests(
      telemetry,
      rows.map((row) => requestRow({ organizationId: account.organizationId, timestampMicros: NOW, ...row })),
    );

  const list = ({ client }: SignedUp, query: Record<string, string | number> = {}) =>
    client.call(analytics.listRequests, { query });

  /** The ids that a question finds, sorted; the total agrees with them. */
  async function found(account: SignedUp, query: Record<string, string | number>): Promise<string[]> {
    const { requests, total } = await list(account, { limit: 200, ...query });
    assert.equal(total, requests.length);
    return requests.map((request) => request.req_id).sort();
  }

  it('401 without a session, whatever is asked', async () => {
    const body = await api.anonymous().refused(analytics.listRequests, 401, {
      query: { status_category: '9xx', key_id: 'x', limit: 'x' },
    });
    assert.deepEqual(body, { detail: 'Unauthorized' });
  });

  it('200 with an empty page of an empty window', async () => {
    assert.deepEqual(await list(await api.signUp()), { total: 0, limit: 50, offset: 0, requests: [] });
  });

  it('200 with every field as it was logged', async () => {
    const account = await api.signUp();
    const { projects } = await account.client.call(organization.listProjects);
    const key = await account.client.call(keys.createKey, {
      body: { project_id: projects[0]?.id, name: 'backend' },
    });
    // Parsed, because an assignment to the second name would set the prototype instead.
    const metadata = JSON.parse('{"team":"red \\"quoted\\" \\\\ back","__proto__":"kept","constructor":""}');
    await add(account, [
      {
        requestId: 'req-1',
        timestampMicros: NOW - 1n,
        keyId: key.id,
        projectId: projects[0]?.id ?? null,
        model: 'a/one',
        status: 502,
        stream: true,
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
        metadata,
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

  it('200 with null for what is unknown, never 0 or an empty text', async () => {
    const account = await api.signUp();
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

  it('200 with the names of today: null for a revoked key and for a deleted project', async () => {
    const account = await api.signUp();
    const { projects } = await account.client.call(organization.listProjects);
    const mint = (name: string) =>
      account.client.call(keys.createKey, { body: { project_id: projects[0]?.id, name } });
    const [kept, revoked] = [await mint('kept'), await mint('revoked')];
    const gone = await api.database.one(insertProject, [account.organizationId, 'gone']);
    assert.ok(gone);
    await add(account, [
      { requestId: 'a', keyId: kept.id, projectId: projects[0]?.id ?? null },
      { requestId: 'b', keyId: revoked.id, projectId: gone.id },
    ]);
    const named = async () =>
      (await list(account)).requests.map((row) => [row.key?.name ?? null, row.project?.name ?? null]);
    assert.deepEqual(await named(), [
      ['kept', 'Default'],
      ['revoked', 'gone'],
    ]);
    await account.client.call(keys.revokeKey, { params: { key_id: revoked.id } });
    await api.database.run(deleteProject, [gone.id]);
    const { requests } = await list(account);
    assert.deepEqual(requests[1]?.key, { id: revoked.id, name: null });
    assert.deepEqual(requests[1]?.project, { id: gone.id, name: null });
    assert.deepEqual(await found(account, { key_id: revoked.id }), ['b']);
  });

  it('200 with the newest first, the id deciding between equals, however it is paged', async () => {
    const account = await api.signUp();
    const rows = Array.from({ length: 30 }, (_, index) => ({
      requestId: `r${String((index * 7) % 30).padStart(2, '0')}`,
      timestampMicros: NOW - BigInt(index % 4) * SECOND,
    }));
    await add(account, rows.slice(0, 10));
    await add(account, rows.slice(10));
    const expected = rows
      .toSorted(
        (a, b) => Number(b.timestampMicros - a.timestampMicros) || (a.requestId > b.requestId ? -1 : 1),
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

  it('200 with at most 200 rows, and says so', async () => {
    const account = await api.signUp();
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
    const account = await api.signUp();
    await add(account, [{}, {}, {}]);
    for (const offset of [3, 4, 2_000_000_000, Number.MAX_SAFE_INTEGER]) {
      assert.deepEqual(await list(account, { offset }), { total: 3, limit: 50, offset, requests: [] });
    }
    assert.equal((await list(account, { offset: 2 })).requests.length, 1);
  });

  for (const [name, values] of [
    ['limit', ['0', '-1', 'abc', '1e2', '1.5', '+1', '0x10']],
    ['offset', ['-1', 'abc', '1.0', '9223372036854775808']],
    ['min_cost_pkr', ['NaN', 'Infinity', '1e400', '-1', '-0.0000001', '0x1', '1,5', '.', "1'"]],
    ['time_range', ['0s', '24H']],
  ] as const) {
    it(`400 with the fault for what is no ${name}`, async () => {
      const { client } = await api.signUp();
      for (const value of values) {
        const body = await client.refused(analytics.listRequests, 400, { query: { [name]: value } });
        assert.deepEqual((body['detail'] as { loc: string[] }[])[0]?.loc, ['query', name], value);
      }
    });
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
      { requestId: 'reqX1', metadata: { 'Team%': "O'Brien", path: 'C:\\temp' } },
      { requestId: 'reqY2', metadata: { city: 'İzmir ÇALIŞMA', greek: 'ΟΔΟΣΑ ΟΔΟΣ', street: 'Straße' } },
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
    await add(account, [{ requestId: 'long', metadata: { long } }]);
    assert.deepEqual(await found(account, { search: long }), ['long']);
    assert.deepEqual(await found(account, { search: long.repeat(2) }), []);
  });

  it('200 with nothing of another organisation, whatever is sent', async () => {
    const [account, stranger] = [await api.signUp(), await api.signUp()];
    await add(stranger, [{ requestId: 'canary', model: 'canary', metadata: { canary: 'canary' } }]);
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
