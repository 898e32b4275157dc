import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { analytics, keys } from '@gatehouse/contract';
import type { RequestLogRow } from '@gatehouse/store';
import { type AnalyticsApi, NOW, SECOND, startAnalyticsApi } from '../testing/analytics-api.ts';
import { type KeyAccount, signUpForKeys } from '../testing/key-account.ts';
import {
  askForExport,
  CSV,
  type Entry,
  exportedCsv,
  exportedNdjson,
  exportText,
  NDJSON,
  type Query,
} from '../testing/request-log-export.ts';
import type { SignedUp, TestApi } from '../testing/test-api.ts';

describe('GET /analytics/requests as an export', () => {
  let started: AnalyticsApi;
  let api: TestApi;
  before(async () => {
    // So that a dozen rows are several pages, and thirty end with a full one.
    started = await startAnalyticsApi({
      pages: { points: 1_000, buckets: 1_000, rows: 5, bytes: 1_000_000 },
    });
    api = started.api;
  });
  after(() => started[Symbol.asyncDispose]());

  const add: AnalyticsApi['add'] = (account, rows) => started.add(account, rows);

  async function allPages({ client }: SignedUp, query: Query = {}) {
    const rows: Entry[] = [];
    for (let total = 1; rows.length < total; ) {
      const page = { ...query, limit: 7, offset: rows.length };
      const reply = await client.call(analytics.listRequests, { query: page });
      rows.push(...reply.requests);
      total = reply.total;
    }
    return rows;
  }

  const mint = ({ client, projectId }: KeyAccount, name: string) =>
    client.call(keys.createKey, { body: { project_id: projectId, name } });

  /** Rows with every kind of value, thirty of them, many at one instant. */
  async function withRows() {
    const account = await signUpForKeys(api);
    const [named, revoked] = [await mint(account, 'a "name", and more'), await mint(account, '=revoked')];
    const texts = [
      ...'plain =1+1 +1 -1 @x \tx \rx a,b'.split(' '),
      'say "a"',
      'a\nb\r\nc',
      '',
      ' ',
      '😀 café',
      "'q",
    ];
    const rows = Array.from({ length: 30 }, (_, index): Partial<RequestLogRow> => {
      const some = texts[index % texts.length] as string;
      return {
        requestId: `${index % 3 === 0 ? '=' : ''}r${(index * 7) % 30}`,
        startedAtMicros: NOW - BigInt(index % 4) * SECOND,
        keyId: [named.id, revoked.id, null][index % 3] ?? null,
        projectId: index % 5 === 0 ? null : account.projectId,
        model: index % 2 ? 'a/one' : '-a/two',
        status: [200, 404, 502][index % 3] as number,
        isStream: index % 2 === 0,
        totalMs: 1234.567 * index,
        ttftMs: index % 2 === 0 ? 0.000_000_1 : null,
        tpotMs: index % 7 === 0 ? 1 / 3 : null,
        promptTokens: index % 6 === 0 ? null : Number.MAX_SAFE_INTEGER,
        cacheReadInputTokens: index % 4 === 0 ? index : null,
        costMicroPkr: BigInt(index) ** 9n,
        isByok: index % 9 === 0,
        upstreamError: index % 3 === 2 ? some : null,
        upstreamModel: index % 8 === 0 ? null : some,
        userAgent: some,
        requestCount: index % 10 === 9 ? 4_294_967_295 : 1,
        metadata: new Map([
          ['team', some === 'plain' ? '__proto__' : some],
          [some || 'x', 'y'],
        ]),
      };
    });
    await add(account, rows.slice(0, 11));
    await add(account, rows.slice(11));
    await account.client.call(keys.revokeKey, { params: { key_id: revoked.id } });
    return { account, named, rows };
  }

  it('200 with the rows of the JSON form, whatever the filters, all of them and in their order', async () => {
    const { account, named } = await withRows();
    for (const query of [
      {},
      { key_id: named.id },
      { project_id: account.projectId },
      { model: 'a/one' },
      { status_category: '4xx' },
      { termination_reason: 'success' },
      { termination_reason: 'none' },
      { min_cost_pkr: '0.25' },
      { search: 'R1' },
      { search: '=', status_category: '2xx' },
      { search: 'nothing has this' },
      { time_range: '2s' },
    ]) {
      const expected = await allPages(account, query);
      assert.deepEqual(await exportedNdjson(account, query), expected, JSON.stringify(query));
      const rows = await exportedCsv(account, query);
      assert.deepEqual(
        rows.map((row) => [row['req_id']?.replace(/^'/, ''), row['timestamp'], row['status']]),
        expected.map((row) => [row.req_id, row.timestamp, String(row.status)]),
        JSON.stringify(query),
      );
    }
  });

  it('200 with lines of NDJSON that are the JSON form to the letter', async () => {
    const { account } = await withRows();
    const page = (await askForExport(account, undefined, { limit: 200 })).text;
    const start = page.indexOf('"requests":[') + '"requests":['.length;
    assert.equal((await exportText(account, NDJSON)).trimEnd().split('\n').join(','), page.slice(start, -2));
    assert.ok(page.includes('"__proto__"'));
  });

  it('200 with CSV equal to the JSON form, cell by cell', async () => {
    const { account, rows: logged } = await withRows();
    const expected = await allPages(account);
    const rows = await exportedCsv(account);
    assert.equal(rows.length, 30);
    const shown = (value: string | null) =>
      value !== null && /^[=+\-@\t\r\n]/.test(value) ? `'${value}` : value;
    const number = (value: string | null | undefined) => (value == null ? null : Number(value));
    for (const [index, row] of rows.entries()) {
      const { key, project, metrics, financials, status_detail, upstream, ...entry } =
        expected[index] ?? assert.fail();
      for (const [name, value] of Object.entries(metrics)) {
        if (typeof value === 'boolean') assert.equal(row[name], String(value));
        else assert.equal(number(row[name]), value, name);
      }
      assert.ok(!/e/.test(`${row['cost_pkr']}${row['ttft_ms']}${row['tpot_ms']}`));
      assert.equal(Number(row['cost_pkr']), financials.cost_pkr);
      assert.equal(row['is_byok'], String(financials.is_byok));
      assert.deepEqual(JSON.parse(row['metadata'] ?? ''), entry.metadata);
      assert.equal(row['request_count'], String(entry.request_count ?? 1));
      assert.deepEqual(
        [row['req_id'], row['timestamp'], row['model'], row['status'], row['stream'], row['user_agent']],
        [
          shown(entry.req_id),
          entry.timestamp,
          shown(entry.model),
          String(entry.status),
          String(entry.stream),
          shown(entry.user_agent),
        ],
      );
      assert.deepEqual(
        [row['key_id'], row['key_name'], row['project_id'], row['project_name']],
        [key?.id ?? null, shown(key?.name ?? null), project?.id ?? null, project?.name ?? null],
      );
      assert.deepEqual(
        [row['termination_reason'], row['upstream_error'], row['upstream_model']],
        [
          status_detail.termination_reason,
          shown(status_detail.upstream_error),
          shown(upstream?.model ?? null),
        ],
      );
    }
    assert.deepEqual(new Set(rows.map((row) => row['key_name'])), new Set(['a "name", and more', null]));
    const costs = new Map(rows.map((row) => [row['req_id']?.replace(/^'/, ''), row['cost_pkr']]));
    // Too many digits for a double: 14507145975869 micro-PKR, and so on.
    for (const { requestId = '', costMicroPkr = 0n } of logged) {
      const [whole, fraction = ''] = (costs.get(requestId) ?? '').split('.');
      assert.equal(BigInt(`${whole}${fraction.padEnd(6, '0')}`), costMicroPkr);
    }
  });

  it('200 with costs that add up to the summary of a key', async () => {
    const { account, named } = await withRows();
    const exported = await exportedCsv(account, { key_id: named.id });
    const cells = exported.map((row) => row['cost_pkr'] ?? '');
    const requests = exported.reduce((sum, row) => sum + Number(row['request_count']), 0);
    const micro = cells.map((cell) => {
      const [whole, fraction = ''] = cell.split('.');
      return BigInt(`${whole}${fraction.padEnd(6, '0')}`);
    });
    const summary = await account.client.call(analytics.getSummary, { query: { key_id: named.id } });
    assert.equal(summary.total_requests, requests);
    assert.equal(Number(micro.reduce((sum, amount) => sum + amount)) / 1e6, summary.total_cost_pkr);
  });

  it('200 with no row and nothing but the names of the columns, for an empty set', async () => {
    const account = await api.signUp();
    assert.match(await exportText(account, CSV), /^req_id,timestamp,[a-z_,]+,metadata,request_count\r\n$/);
    assert.equal(await exportText(account, NDJSON), '');
    const { account: other } = await withRows();
    assert.equal(await exportText(other, NDJSON, { search: 'nothing has this' }), '');
  });

  it('200 with all rows, whatever limit and offset say', async () => {
    const { account } = await withRows();
    for (const type of [CSV, NDJSON]) {
      const all = await exportText(account, type);
      assert.equal(await exportText(account, type, { limit: 1, offset: 1_000_000 }), all);
    }
  });
});
