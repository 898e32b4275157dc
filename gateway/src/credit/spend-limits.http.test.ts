import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runSql } from '@gatehouse/store/testing';
import { assertError, useBench } from '../testing/bench.ts';
import { completion, json } from '../testing/mock-provider.ts';
import { addLimit } from '../testing/spend-limits.ts';
import { addRoute, issueKey, moneyOf } from '../testing/test-gateway.ts';

// 'Hi' and its frame are 8 tokens.
const PROMPT = 8n * 70n;
const OUTPUT_TOKEN = 560n;
const LOW = { id: 'mock/low', minOutputTokens: 100, defaultOutputTokens: 300 };

const bench = await useBench();
await addRoute(bench.database, { ...LOW, baseUrl: bench.provider.baseUrl });
bench.provider.script = json(completion('x', { prompt: 8, completion: 1 }));

const ask = (secret: string, labels: Readonly<Record<string, string>> = {}) =>
  bench.gateway.chat(
    secret,
    { model: LOW.id },
    {
      headers: Object.fromEntries(
        Object.entries(labels).map(([name, value]) => [`x-svc-meta-${name}`, value]),
      ),
    },
  );

describe('a request under spend limits', () => {
  it('200 with a lowered output limit where less than its cap is left, then 402 that names limit, figures and end', async () => {
    const key = await issueKey(bench.database);
    const id = await addLimit(bench.database, key.organizationId, {
      ...{ kind: 'project', scopeId: key.projectId, window: 'day', timeZone: 'Asia/Karachi' },
      microPkr: PROMPT + 150n * OUTPUT_TOKEN,
    });
    const first = await ask(key.secret);
    assert.equal(first.status, 200);
    assert.equal(first.headers.get('x-gatehouse-output-limit'), '150');
    const record = await bench.recordOf(first);
    const [window] = await runSql<{ id: string; spent: bigint; held: bigint }>(bench.database)`
      SELECT id, spent_micro_pkr AS spent, held_micro_pkr AS held FROM spend_windows WHERE limit_id = ${id}`;
    await moneyOf(bench.database, key.id);
    assert.equal(record.windowIds, `{${window?.id}}`);
    for (let n = 0; n < 60; n += 1) if ((await ask(key.secret)).status !== 200) break;
    const refused = await ask(key.secret);
    assert.equal(refused.headers.get('x-should-retry'), 'false');
    const sentence = await assertError(refused, {
      ...{ status: 402, code: 'spend_limit_reached', type: 'insufficient_quota' },
    });
    assert.match(
      sentence,
      new RegExp(
        `^The spend limit of this API key's project does not cover this request\\. It is 0\\.08456 PKR a day: 0\\.02912 PKR spent, ` +
          `0\\.00 PKR held by requests in flight\\. This request needs at least 0\\.05656 PKR\\. This day ends at ` +
          `\\d{4}-\\d\\d-\\d\\dT19:00:00\\+00:00 by the calendar of Asia/Karachi\\. An owner or admin can raise limit ${id}; ` +
          'a shorter prompt or a smaller output limit needs less\\.$',
      ),
    );
  });

  it('429 while requests in flight hold what is left, and 200 for who asks again', async () => {
    const key = await issueKey(bench.database);
    const id = await addLimit(bench.database, key.organizationId, {
      microPkr: PROMPT + 399n * OUTPUT_TOKEN,
    });
    const { promise, resolve } = Promise.withResolvers<void>();
    const { script } = bench.provider;
    bench.provider.script = async (response, asked) => {
      await promise;
      await script(response, asked);
    };
    const first = ask(key.secret);
    const asked = bench.provider.asked.length;
    while (bench.provider.asked.length === asked) await new Promise((done) => setTimeout(done, 5));
    const second = await ask(key.secret);
    assert.equal(second.headers.get('retry-after'), '1');
    const sentence = await assertError(second, {
      ...{ status: 429, code: 'credit_held', type: 'rate_limit_error' },
    });
    assert.ok(
      sentence.startsWith(`Requests in flight hold too much of the spend limit of the organization (${id}).`),
    );
    assert.match(sentence, /It is 0\.224 PKR in all: 0\.00 PKR spent, 0\.16856 PKR held/);
    resolve();
    assert.equal((await first).status, 200);
    bench.provider.script = script;
    assert.equal((await ask(key.secret)).status, 200);
  });

  it('is bound by its labels, each value on its own', async () => {
    const key = await issueKey(bench.database);
    await addLimit(bench.database, key.organizationId, {
      ...{
        kind: 'metadata',
        name: 'user',
        value: null,
        window: 'hour',
        microPkr: PROMPT + 101n * OUTPUT_TOKEN,
      },
    });
    const statuses: number[] = [];
    for (const user of ['ada', 'ada', 'ada', 'bob']) statuses.push((await ask(key.secret, { user })).status);
    assert.deepEqual(statuses, [200, 200, 402, 200].with(1, statuses[1] ?? 0));
    const refused = await ask(key.secret, { USER: 'ada' });
    const sentence = await assertError(refused, {
      ...{ status: 402, code: 'spend_limit_reached', type: 'insufficient_quota' },
    });
    assert.ok(sentence.startsWith('The spend limit of the label user with the value "ada" does not cover'));
    assert.equal((await ask(key.secret)).status, 200);
  });

  it('finds the limits of its key at /v1/key, the nearest first, without those of labels or that only alert', async () => {
    const key = await issueKey(bench.database);
    const other = await issueKey(bench.database, { organizationId: key.organizationId });
    const limits = [
      { microPkr: 1_000_000n, window: 'month' },
      { kind: 'key', scopeId: key.id, microPkr: 2_000_000n },
      { kind: 'key', scopeId: other.id, microPkr: 1n },
      { kind: 'metadata', name: 'user', value: null, microPkr: 1n },
      { microPkr: 1n, mode: 'alert' },
    ] as const;
    const ids: string[] = [];
    for (const limit of limits) ids.push(await addLimit(bench.database, key.organizationId, limit));
    assert.equal((await ask(key.secret)).status, 200);
    const response = await bench.gateway.fetch('/v1/key', {
      headers: { authorization: `Bearer ${key.secret}` },
    });
    const { spend_limits: shown } = (await response.json()) as { spend_limits: Record<string, unknown>[] };
    const spent = Number(PROMPT + OUTPUT_TOKEN) / 1e6;
    const figures = { spent_pkr: spent, held_pkr: 0 };
    assert.deepEqual(shown, [
      {
        ...{ id: ids[0], scope: { kind: 'organization' }, window: 'month', limit_pkr: 1, ...figures },
        ...{ remaining_pkr: (1_000_000 - spent * 1e6) / 1e6, window_ends_at: shown[0]?.['window_ends_at'] },
      },
      {
        ...{ id: ids[1], scope: { kind: 'key', id: key.id }, window: 'lifetime', limit_pkr: 2, ...figures },
        ...{ remaining_pkr: (2_000_000 - spent * 1e6) / 1e6, window_ends_at: null },
      },
    ]);
    assert.match(String(shown[0]?.['window_ends_at']), /^\d{4}-\d\d-01T00:00:00\.000000\+00:00$/);
  });
});
