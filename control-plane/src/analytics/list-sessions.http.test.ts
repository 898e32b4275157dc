import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { analytics, keys, timestampWithZ } from '@gatehouse/contract';
import { NOW, SECOND, signUpWithKey, startAnalyticsApi } from '../testing/analytics-api.ts';
import { duringTests } from '../testing/during-tests.ts';
import { mintKey, shareKeys } from '../testing/key-account.ts';
import { requestsOf } from '../testing/reference-figures.ts';
import { errorCodeOf, type Query, randomOutcomes, rowsOf } from '../testing/reference-groups.ts';
import { addRequests } from '../testing/requests.ts';
import { seeded } from '../testing/seeded.ts';

// Another one gives other rows.
const NAMES = ['run', 'session-id'] as const;
const SEED = 20_261_126;

describe('GET /analytics/sessions', () => {
  const started = duringTests(startAnalyticsApi);
  const session = (id: string) => ({ metadata: new Map([['session-id', id]]) });

  it('200 with the figures of each session, the one with the last request first', async () => {
    const account = await signUpWithKey(started);
    await account.add(
      { ...session('a'), startedAtMicros: NOW - 60n * SECOND, costMicroPkr: 1n, model: 'a/one' },
      {
        ...session('a'),
        startedAtMicros: NOW - 30n * SECOND,
        costMicroPkr: 2n,
        model: 'b/two',
        totalMs: 2_500.25,
      },
      { ...session('a'), startedAtMicros: NOW - 20n * SECOND, model: 'b/two', status: 502 },
      { ...session('b'), startedAtMicros: NOW - 10n * SECOND, totalTokens: 7, status: 429, requestCount: 9 },
      { ...session(''), startedAtMicros: NOW },
      { metadata: new Map([['other', 'a']]) },
    );
    const reply = await account.client.call(analytics.listSessions, { query: { metadata: 'Session-ID' } });
    assert.deepEqual(reply, {
      from: '2026-11-19T10:30:00.123456Z',
      to: '2026-11-20T10:30:00.123457Z',
      metadata: 'session-id',
      total: 2,
      limit: 50,
      offset: 0,
      sessions: [
        {
          session: 'b',
          requests: 9,
          errors: 9,
          tokens: 7,
          cost_pkr: 0,
          first_request_at: '2026-11-20T10:29:50.123456Z',
          last_request_at: '2026-11-20T10:29:50.123456Z',
          duration_ms: 1000,
          models: ['a/one'],
        },
        {
          session: 'a',
          requests: 3,
          errors: 1,
          tokens: 90,
          cost_pkr: 0.000003,
          first_request_at: '2026-11-20T10:29:00.123456Z',
          last_request_at: '2026-11-20T10:29:40.123456Z',
          duration_ms: 41_000,
          models: ['b/two', 'a/one'],
        },
      ],
    });
  });

  it('200 with the sessions of a member’s keys alone, revoked ones too, and none without keys', async () => {
    const account = await signUpWithKey(started);
    const others = [await mintKey(account), await mintKey(account)];
    const [second = { id: '' }, third = { id: '' }] = others;
    const ids = [account.key.id, second.id, third.id];
    const [first, other] = await shareKeys(started.api, account, ids);
    await account.client.call(keys.revokeKey, { params: { key_id: second.id } });
    await account.add(
      ...ids.map((keyId, nth) => ({ ...session(`s${nth}`), keyId, startedAtMicros: NOW - SECOND })),
    );
    const found = async (member_id?: string | null) => {
      const query = { metadata: 'session-id', ...(member_id && { member_id }) };
      const { total, sessions } = await account.client.call(analytics.listSessions, { query });
      assert.equal(total, sessions.length);
      return sessions.map((one) => one.session).sort();
    };
    assert.deepEqual(await found(), ['s0', 's1', 's2']);
    assert.deepEqual(await found(first), ['s0']);
    assert.deepEqual(await found(other?.toUpperCase()), ['s1']);
    const newcomer = await started.api.signUp({ organization: account.organizationName });
    assert.deepEqual(await found(newcomer.userId), []);
    const foreign = await started.api.signUp();
    for (const member_id of [foreign.userId, randomUUID(), 'x', second.id]) {
      const query = { metadata: 'session-id', member_id };
      const refused = await account.client.refused(analytics.listSessions, 404, { query });
      assert.deepEqual(refused, { error: 'Member not found.' });
    }
  });

  it('200 with what a loop over random rows finds, in every order, filtered and page by page', async () => {
    const choices = seeded(SEED);
    const { pick, maybe, below } = choices;
    const account = await signUpWithKey(started);
    const owners = { ...account, projectIds: [account.projectId], keyIds: [account.key.id] };
    const values = [
      '',
      ...Array.from({ length: 30 }, (_, nth) => `${pick(['S', 's', 'ß', '%', "'"])}${nth}`),
    ];
    const rows = randomOutcomes(choices, owners, 600).map((row) => ({
      ...row,
      requestId: `${account.organizationId}${row.requestId}`,
      // The one is read from its own column.
      metadata: new Map(Array.of(pick(values)).flatMap((value) => NAMES.map((name) => [name, value]))),
    }));
    await addRequests(started.telemetry, rows);
    let seen = 0;
    for (let nth = 0; nth < 40; nth += 1) {
      const query: Query = {
        time_range: pick(['24h', '30d', '90d', '3650d']),
        ...maybe(0.3, () => ({ key_id: account.key.id })),
        ...maybe(0.3, () => ({ model_alias: pick(['a/one', 'b/two']) })),
      };
      const search = maybe(0.4, () => pick(['s', 'S1', '%', "'", 'ß2', 'none']));
      const sort = pick(analytics.SESSION_ORDERS);
      const what = JSON.stringify({ ...query, search, sort });
      const parts = Map.groupBy(rowsOf(rows, query), (row) => row.metadata.get('run') ?? '');
      const expected = [...parts]
        .filter(([name]) => name !== '' && name.toLowerCase().includes(search?.toLowerCase() ?? ''))
        .map(([name, part]) => {
          const times = part.map(({ startedAtMicros }) => startedAtMicros).sort((a, b) => Number(a - b));
          const first = times[0] ?? 0n;
          const ends = part.map((row) => row.startedAtMicros + BigInt(Math.round(row.totalMs * 1000)));
          const cost = part.reduce((sum, row) => sum + row.costMicroPkr, 0n);
          return {
            session: name,
            requests: requestsOf(part),
            errors: requestsOf(part.filter((row) => errorCodeOf(row) !== null)),
            tokens: part.reduce((sum, row) => sum + row.totalTokens, 0),
            cost_pkr: Number(cost) / 1e6,
            first_request_at: timestampWithZ(first),
            last_request_at: timestampWithZ(times.at(-1) ?? 0n),
            duration_ms: Number(ends.reduce((a, b) => (a > b ? a : b)) - first) / 1000,
          };
        });
      const by = (one: (typeof expected)[number]) =>
        ({ last_request: 0, requests: one.requests, cost: one.cost_pkr, duration: one.duration_ms })[sort];
      expected.sort(
        (a, b) =>
          by(b) - by(a) ||
          (a.last_request_at < b.last_request_at ? 1 : a.last_request_at > b.last_request_at ? -1 : 0) ||
          Buffer.compare(Buffer.from(a.session), Buffer.from(b.session)),
      );
      const limit = 1 + below(40);
      const offset = below(20);
      const reply = await account.client.call(analytics.listSessions, {
        query: { ...query, metadata: pick(NAMES), sort, limit, offset, ...(search ? { search } : {}) },
      });
      assert.equal(reply.total, expected.length, what);
      const page = expected.slice(offset, offset + limit);
      assert.deepEqual(
        reply.sessions.map(({ models: _, ...others }) => others),
        page,
        what,
      );
      for (const { session: name, models } of reply.sessions)
        assert.deepEqual(models.toSorted(), [...new Set(parts.get(name)?.map(({ model }) => model))].sort());
      seen += page.length;
    }
    assert.ok(seen > 100, `only ${seen}`);
  });

  it('200 with the exact total of 30,000 values, and 400 beyond 10,000 of them', async () => {
    const account = await signUpWithKey(started);
    await started.telemetry.client.command({
      query: `INSERT INTO request_log (organization_id, timestamp, request_id, model, status, total_ms, termination_reason, metadata)
              SELECT '${account.organizationId}', fromUnixTimestamp64Micro(${NOW} - toInt64(number)), toString(number), 'm', 200, 1, 'success',
                     map('trace', concat('trace-', leftPad(toString(number), 1000, '0')))
              FROM numbers(30000)`,
    });
    const { client } = account;
    const call = (query: Record<string, string>) =>
      client.call(analytics.listSessions, { query: { metadata: 'trace', ...query } });
    const last = await call({ limit: '200', offset: '10000', sort: 'cost' });
    assert.deepEqual([last.total, last.sessions.length], [30_000, 200]);
    assert.ok(last.sessions[0]?.session.endsWith('0010000'));
    assert.equal((await call({ search: '0029999' })).total, 1);
    assert.match(
      String(
        (await client.refused(analytics.listSessions, 400, { query: { metadata: 'trace', offset: 10_001 } }))[
          'error'
        ],
      ),
      /offset must be at most 10000.*search/,
    );
    const { detail } = await client.refused(analytics.listSessions, 400, {
      query: { metadata: 'n'.repeat(65) },
    });
    assert.match((detail as { msg: string }[])[0]?.msg ?? '', /at most 64 characters/);
    for (const query of [
      {},
      { metadata: 'trace', sort: 'name' },
      { metadata: 'trace', to: timestampWithZ(NOW) },
    ])
      await client.refused(analytics.listSessions, 400, { query });
  });
});
