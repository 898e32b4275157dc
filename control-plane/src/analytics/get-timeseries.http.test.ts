import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { analytics } from '@gatehouse/contract';
import {
  type AnalyticsApi,
  DAY,
  NOW,
  SECOND,
  signUpWithKey,
  startAnalyticsApi,
} from '../testing/analytics-api.ts';
import type { SignedUp, TestApi } from '../testing/test-api.ts';

const MINUTE = 60n * SECOND;
const HOUR = 60n * MINUTE;

/** `2026-11-20T10:00:00` as microseconds. */
const at = (text: string) => BigInt(Date.parse(`${text}Z`)) * 1000n;

describe('GET /analytics/timeseries', () => {
  let started: AnalyticsApi;
  let api: TestApi;
  before(async () => {
    started = await startAnalyticsApi();
    api = started.api;
  });
  after(() => started[Symbol.asyncDispose]());

  type Query = Record<string, string | number>;
  const series = ({ client }: SignedUp, query: Query = {}) => client.call(analytics.getTimeseries, { query });

  /** The points, each as bucket, group and value. */
  const points = async (account: SignedUp, query: Query = {}) =>
    (await series(account, query)).data.map(({ bucket, group, value }) => [bucket, group, value]);

  it('401 without a session, whatever is asked', async () => {
    const body = await api.anonymous().refused(analytics.getTimeseries, 401, {
      query: { metric: 'x', interval: 'x', group_by: 'x', key_id: 'x' },
    });
    assert.deepEqual(body, { detail: 'Unauthorized' });
  });

  it('200 with the defaults, and no points of an empty window', async () => {
    const account = await signUpWithKey(started);
    const empty = { metric: 'volume', interval: '1h', group_by: 'model', time_range: '24h', data: [] };
    const reply = await account.client.send(analytics.getTimeseries);
    assert.equal(reply.text, JSON.stringify(empty));
    const blank = { metric: '', interval: ' ', group_by: '', time_range: '', model_alias: '', key_id: ' ' };
    assert.deepEqual(await series(account, blank), empty);
  });

  it('200 with what was asked for, as it was asked', async () => {
    const account = await signUpWithKey(started);
    for (const [query, told] of [
      [
        { interval: '90m', time_range: '0007d' },
        { interval: '90m', time_range: '0007d' },
      ],
      [{ interval: '000000000060s' }, { interval: '000000000060s' }],
      [
        { interval: '999999999999d', time_range: '999999999999d' },
        { interval: '999999999999d', time_range: '3650d' },
      ],
      [
        { metric: 'tok_s', group_by: 'project' },
        { metric: 'tok_s', group_by: 'project' },
      ],
    ] as const) {
      const { data, ...head } = await series(account, query);
      assert.deepEqual(data, []);
      assert.deepEqual(head, {
        metric: 'volume',
        interval: '1h',
        group_by: 'model',
        time_range: '24h',
        ...told,
      });
    }
  });

  describe('every metric by every grouping', () => {
    const other = { projectId: randomUUID(), keyId: randomUUID() };
    let account: Awaited<ReturnType<typeof signUpWithKey>>;
    let groups: Record<analytics.Grouping, readonly [first: string, second: string]>;
    const bucket = '2026-11-20T10:00:00';
    const before10 = '2026-11-20T09:00:00';

    before(async () => {
      account = await signUpWithKey(started);
      groups = {
        project: [account.projectId, other.projectId],
        key: [account.key.id, other.keyId],
        model: ['a/one', 'a/two'],
      };
      await account.add(
        // The first group: 40 tokens in 4 s, 20 in 1.5 s, 1000 in an unknown time, none.
        { isStream: true, totalMs: 5000, ttftMs: 1000, tokensGenerated: 40, totalTokens: 50 },
        { totalMs: 2000, preDispatchMs: 500, tokensGenerated: 20, totalTokens: 30 },
        { isStream: true, totalMs: 700, ttftMs: null, tokensGenerated: 1000, totalTokens: 1000 },
        { status: 429, totalMs: 300, tokensGenerated: 0, totalTokens: 0 },
        // The second: no stream, and tokens that took no time.
        { ...other, model: 'a/two', totalMs: 0.5, preDispatchMs: 0.5, tokensGenerated: 7, totalTokens: 7 },
        // Nobody's, an hour before.
        {
          keyId: null,
          projectId: null,
          model: 'a/none',
          startedAtMicros: NOW - HOUR,
          isStream: true,
          totalMs: 3.001,
          ttftMs: 1,
          tokensGenerated: 3,
          totalTokens: 9_007_199_254_740_991,
        },
      );
    });

    for (const grouping of analytics.GROUPINGS) {
      const nobody = grouping === 'model' ? 'a/none' : 'unattributed';
      const expected: Record<analytics.Metric, readonly [nobody: number, first: number, second?: number]> = {
        volume: [1, 4, 1],
        latency: [3.001, 2000, 0.5],
        ttft: [1, 1000],
        tok_s: [3 / 0.002001, 60 / 5.5],
        token_usage: [9_007_199_254_740_991, 1080, 7],
      };
      for (const metric of analytics.METRICS) {
        it(`200 with ${metric} by ${grouping}`, async () => {
          const [ofNobody, first, second] = expected[metric];
          const now = [
            [bucket, groups[grouping][0], first],
            ...(second === undefined ? [] : [[bucket, groups[grouping][1], second]]),
          ].sort(([, a], [, b]) => (String(a) < String(b) ? -1 : 1));
          const answered = await points(account, { metric, group_by: grouping });
          const rounded = answered.map(([when, group, value]) => [
            when,
            group,
            Number(value).toPrecision(14),
          ]);
          assert.deepEqual(
            rounded,
            [[before10, nobody, ofNobody], ...now].map(([when, group, value]) => [
              when,
              group,
              Number(value).toPrecision(14),
            ]),
          );
        });
      }
    }
  });

  it('200 with buckets counted from the epoch, by bucket and then group', async () => {
    const account = await signUpWithKey(started);
    const instants = [
      '2026-11-20T10:30:00',
      '2026-11-20T10:29:59.999',
      '2026-11-20T04:59:59',
      '2026-11-20T05:00:00',
      '2026-11-19T23:59:59',
      '2026-11-14T00:00:00',
    ];
    await account.add(
      ...instants.flatMap((instant) =>
        ['b', 'B', 'a', '\u{1F600}', '\uFF21'].map((model) => ({ startedAtMicros: at(instant), model })),
      ),
    );
    for (const interval of ['30m', '90m', '5h', '7d', '1d', '1s', '86399s', '1h', '61s', '3d']) {
      const { 1: digits, 2: unit = '' } = /^(\d+)(.)$/.exec(interval) ?? [];
      const width = Number(digits) * { s: 1, m: 60, h: 3600, d: 86_400 }[unit as 's'];
      const bucketOf = (text: string) => {
        const seconds = Math.floor(Date.parse(`${text}Z`) / 1000 / width) * width;
        return new Date(seconds * 1000).toISOString().slice(0, 19);
      };
      const buckets = [...new Set(instants.map(bucketOf))].sort();
      assert.deepEqual(
        await points(account, { interval, time_range: '30d' }),
        buckets.flatMap((bucket) =>
          ['B', 'a', 'b', '\uFF21', '\u{1F600}'].map((group) => [
            bucket,
            group,
            instants.filter((text) => bucketOf(text) === bucket).length,
          ]),
        ),
        interval,
      );
    }
    // One bucket for all time, which begins where the counting does.
    for (const interval of ['999999999999d', '999999999999s', '100000d']) {
      const all = await points(account, { interval, time_range: '3650d' });
      assert.deepEqual(all[0], ['1970-01-01T00:00:00', 'B', instants.length]);
      assert.equal(all.length, 5);
    }
  });

  it('200 with both ends of the window, in buckets that lie in it only partly, and nothing beyond', async () => {
    const account = await signUpWithKey(started);
    await account.add(
      { startedAtMicros: NOW + 1n, totalTokens: 1 },
      { startedAtMicros: NOW + DAY, totalTokens: 2 },
      { startedAtMicros: NOW, totalTokens: 10 },
      { startedAtMicros: NOW - HOUR, totalTokens: 100 },
      { startedAtMicros: NOW - HOUR - 1n, totalTokens: 1000 },
      { startedAtMicros: NOW - 5n * DAY, totalTokens: 10_000 },
      { startedAtMicros: NOW - 5n * DAY - 1n, totalTokens: 100_000 },
    );
    const tokens = (query: Query) => points(account, { metric: 'token_usage', ...query });
    assert.deepEqual(await tokens({ time_range: '1h' }), [
      ['2026-11-20T09:00:00', 'a/one', 100],
      ['2026-11-20T10:00:00', 'a/one', 10],
    ]);
    // Five days are long enough for the sums of whole hours.
    assert.deepEqual(await tokens({ time_range: '5d', interval: '1d' }), [
      ['2026-11-15T00:00:00', 'a/one', 10_000],
      ['2026-11-20T00:00:00', 'a/one', 1110],
    ]);
    assert.deepEqual(await tokens({ time_range: '1s', interval: '1d' }), [
      ['2026-11-20T00:00:00', 'a/one', 10],
    ]);
  });

  it('200 with what the filters leave, and no points for a project that does not hold the key', async () => {
    const [account, stranger] = [await signUpWithKey(started), await signUpWithKey(started)];
    const second = await account.mint();
    await stranger.add({ totalTokens: 1_000_000 });
    await account.add(
      { totalTokens: 1 },
      { totalTokens: 10, keyId: second.id },
      { totalTokens: 100, keyId: null, projectId: null },
      { totalTokens: 1000, model: 'a/two' },
      { totalTokens: 10_000, projectId: randomUUID() },
    );
    for (const time_range of ['24h', '30d']) {
      for (const group_by of analytics.GROUPINGS) {
        for (const [query, tokens] of [
          [{}, 11_111],
          [{ project_id: account.projectId }, 1011],
          [{ key_id: account.key.id.toUpperCase() }, 11_001],
          [{ key_id: second.id }, 10],
          [{ key_id: account.key.id, project_id: account.projectId }, 1001],
          [{ model_alias: 'a/two' }, 1000],
          [{ model_alias: 'a/one', key_id: second.id }, 10],
          [{ model_alias: 'a/two', key_id: second.id }, undefined],
        ] as const) {
          const found = await points(account, { metric: 'token_usage', group_by, time_range, ...query });
          const total = found.reduce((sum, [, , value]) => sum + Number(value), 0);
          assert.equal(found.length === 0 ? undefined : total, tokens, JSON.stringify({ query, group_by }));
        }
      }
    }
  });

  it('200 without points for a known key and a known project that does not hold it', async () => {
    const [account, other] = [await signUpWithKey(started), await signUpWithKey(started)];
    await account.add({});
    const { client } = account;
    const both = { key_id: account.key.id, project_id: account.projectId };
    assert.equal((await points(account, both)).length, 1);
    await client.refused(analytics.getTimeseries, 404, { query: { ...both, project_id: other.projectId } });
    await client.refused(analytics.getTimeseries, 404, { query: { ...both, key_id: other.key.id } });
    for (const id of ['not-a-uuid', randomUUID(), `{${account.key.id}}`, `${account.key.id} `, "' OR 1=1"]) {
      await client.refused(analytics.getTimeseries, 404, { query: { key_id: id } });
      await client.refused(analytics.getTimeseries, 404, { query: { project_id: id } });
    }
  });

  for (const [name, accepted, wrong] of [
    ['metric', analytics.METRICS, ['x', 'VOLUME', 'volume ', 'cost', '__proto__', 'toString', "volume'"]],
    ['group_by', analytics.GROUPINGS, ['x', 'Key', 'status', 'key_id', 'model,key', 'constructor']],
    [
      'interval',
      ['s, m, h or d', '24h'],
      ['0s', '-1h', '+5m', '1.5h', '\u0663h', '1H', '1h\n', 'h', '1', '1w', '1234567890123s', '1mo', "1h'"],
    ],
  ] as const) {
    it(`400 with the fault that names what ${name} can be`, async () => {
      const { client } = await api.signUp();
      for (const value of wrong) {
        const body = await client.refused(analytics.getTimeseries, 400, { query: { [name]: value } });
        const [fault, ...others] = body['detail'] as { loc: string[]; msg: string }[];
        assert.deepEqual([fault?.loc, others], [['query', name], []], value);
        for (const word of accepted) assert.ok(fault?.msg.includes(word), `${value}: ${fault?.msg}`);
      }
    });
  }

  it('400 with every fault at once', async () => {
    const { client } = await api.signUp();
    const body = await client.refused(analytics.getTimeseries, 400, {
      query: { metric: 'x', interval: 'x', group_by: 'x', time_range: 'x' },
    });
    assert.deepEqual((body['detail'] as { loc: string[] }[]).map(({ loc }) => loc[1]).sort(), [
      'group_by',
      'interval',
      'metric',
      'time_range',
    ]);
  });

  it('200 with any text that a model was called by, as it was sent', async () => {
    const account = await signUpWithKey(started);
    const models = [
      'a/b',
      '/\\"\'',
      'line\nbreak\r\n\ttab',
      '\u0001\u001f\u007f\u0085',
      '\u2028\u2029',
      'caf\u00e9 \u{1F600} \u0416',
      '{"bucket":"2026-11-20T10:00:00","group":"x","value":1}',
      '{"bucket":"',
      '"},{"',
      'unattributed',
      ' ',
      '%F',
    ];
    await account.add(...models.map((model) => ({ model })));
    const reply = await account.client.send(analytics.getTimeseries);
    const { data } = JSON.parse(reply.text) as { data: { group: string }[] };
    const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));
    assert.deepEqual(
      data.map(({ group }) => group),
      models.toSorted(byBytes),
    );
    // Slashes, which are in nearly every name, are left as they are.
    assert.ok(reply.text.includes('"a/b"'));
    for (const model of models.filter((text) => text.trim() !== '')) {
      assert.deepEqual(await points(account, { model_alias: model }), [['2026-11-20T10:00:00', model, 1]]);
    }
  });
});
