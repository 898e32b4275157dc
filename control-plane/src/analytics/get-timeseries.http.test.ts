import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { before, describe, it } from 'node:test';
import { analytics } from '@gatehouse/contract';
import { DAY, NOW, SECOND, signUpWithKey, startAnalyticsApi } from '../testing/analytics-api.ts';
import { duringTests } from '../testing/during-tests.ts';
import type { SignedUp } from '../testing/test-api.ts';

const MINUTE = 60n * SECOND;
const HOUR = 60n * MINUTE;

/** `2026-11-20T10:00:00` as microseconds. */
const at = (text: string) => BigInt(Date.parse(`${text}Z`)) * 1000n;

describe('GET /analytics/timeseries', () => {
  const started = duringTests(startAnalyticsApi);

  type Query = Record<string, string | number>;
  const series = ({ client }: SignedUp, query: Query = {}) => client.call(analytics.getTimeseries, { query });

  /** The points, each as bucket, group and value. */
  const points = async (account: SignedUp, query: Query = {}) =>
    (await series(account, query)).data.map(({ bucket, group, value }) => [bucket, group, value]);

  it('200 with the defaults, and no points of an empty window', async () => {
    const account = await signUpWithKey(started);
    const empty = { metric: 'volume', interval: '1h', group_by: 'model', time_range: '24h', data: [] };
    const reply = await account.client.send(analytics.getTimeseries);
    assert.equal(reply.text, JSON.stringify(empty));
    const blank = { metric: '', interval: ' ', group_by: '', time_range: '', model_alias: '', key_id: ' ' };
    assert.deepEqual(await series(account, blank), empty);
  });

  it('200 with the parameters as they were sent', async () => {
    const account = await signUpWithKey(started);
    for (const [query, applied] of [
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
        ...applied,
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
        // Unattributed, an hour before.
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
      const unattributed = grouping === 'model' ? 'a/none' : 'unattributed';
      const expected: Record<
        analytics.Metric,
        readonly [unattributed: number, first: number, second?: number]
      > = {
        volume: [1, 4, 1],
        latency: [3.001, 2000, 0.5],
        ttft: [1, 1000],
        tok_s: [3 / 0.002001, 60 / 5.5],
        token_usage: [9_007_199_254_740_991, 1080, 7],
      };
      for (const metric of analytics.METRICS) {
        it(`200 with ${metric} by ${grouping}`, async () => {
          const [ofUnattributed, first, second] = expected[metric];
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
            [[before10, unattributed, ofUnattributed], ...now].map(([when, group, value]) => [
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
      ...'2026-11-20T10:30:00 2026-11-20T10:29:59.999 2026-11-20T04:59:59 2026-11-20T05:00:00'.split(' '),
      ...'2026-11-19T23:59:59 2026-11-14T00:00:00'.split(' '),
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
    // One bucket for all time, which begins at the epoch.
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
    // Five days are long enough for the hourly rollup.
    assert.deepEqual(await tokens({ time_range: '5d', interval: '1d' }), [
      ['2026-11-15T00:00:00', 'a/one', 10_000],
      ['2026-11-20T00:00:00', 'a/one', 1110],
    ]);
    assert.deepEqual(await tokens({ time_range: '1s', interval: '1d' }), [
      ['2026-11-20T00:00:00', 'a/one', 10],
    ]);
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
    it(`400 with the accepted values for an invalid ${name}`, async () => {
      const { client } = await started.api.signUp();
      for (const value of wrong) {
        const body = await client.refused(analytics.getTimeseries, 400, { query: { [name]: value } });
        const [issue, ...others] = body['detail'] as { loc: string[]; msg: string }[];
        assert.deepEqual([issue?.loc, others], [['query', name], []], value);
        for (const word of accepted) assert.ok(issue?.msg.includes(word), `${value}: ${issue?.msg}`);
      }
    });
  }

  it('200 with any text as the name of a model', async () => {
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
