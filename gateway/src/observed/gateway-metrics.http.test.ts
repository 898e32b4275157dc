import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Metrics, type SeriesSnapshot } from '@gatehouse/observability';
import { createSlidingWindow } from '../rates/sliding-window.ts';
import { useBench } from '../testing/bench.ts';
import { json } from '../testing/mock-provider.ts';
import { issueKey, startTestGateway, type TestGateway } from '../testing/test-gateway.ts';

const bench = await useBench();
const metrics = new Metrics();
let gateway: TestGateway;

/** The series of a metric so far, by their labels. */
async function read(name: string): Promise<Record<string, SeriesSnapshot[1]>> {
  const found = (await metrics.collect()).find((metric) => metric.name === name);
  assert.ok(found, name);
  return Object.fromEntries(found.series.map(([labels, value]) => [labels.join(' '), value]));
}

describe('metrics of the gateway', () => {
  before(async () => {
    gateway = await startTestGateway(bench.database, { metrics });
  });
  after(() => gateway[Symbol.asyncDispose]());

  it('count what is served, with its tokens, cost, times and attempt', async () => {
    const answer = await gateway.chat(bench.key.secret);
    assert.equal(answer.status, 200);
    await answer.text();
    await gateway.gateway.flush();
    const [record] = gateway.journal.records;
    const requests = await read('gatehouse_gateway_requests_total');
    assert.deepEqual(requests, { 'createChatCompletion mock/model 200 ': 1 });
    const tokens = await read('gatehouse_gateway_tokens_total');
    assert.deepEqual(tokens, {
      'mock/model prompt': record?.promptTokens,
      'mock/model completion': record?.tokensGenerated,
    });
    const cost = await read('gatehouse_gateway_cost_pkr_total');
    assert.ok(record && record.costMicroPkr > 0n);
    assert.deepEqual(cost, { 'mock/model': Number(record.costMicroPkr) / 1e6 });
    const [{ provider } = { provider: '' }] = record.attempts;
    assert.deepEqual(await read('gatehouse_upstream_attempts_total'), { [`${provider} served`]: 1 });
    for (const name of ['gatehouse_gateway_added_seconds', 'gatehouse_gateway_request_duration_seconds']) {
      const counts = (await read(name))['createChatCompletion'] as readonly number[];
      assert.equal(
        counts.reduce((sum, count) => sum + count),
        1,
        name,
      );
    }
    assert.deepEqual(await read('gatehouse_gateway_requests_in_flight'), { '': 0 });
  });

  it('count refusals by their code, and never a name that a caller sends', async () => {
    const poor = await issueKey(bench.database, { depositedMicroPkr: 0n });
    const answers = [
      await gateway.chat('sk_svc_unknown'),
      await gateway.chat(poor.secret),
      await gateway.chat(bench.key.secret, { model: 'no/such"model' }),
      await gateway.fetch('/v1/nothing'),
    ];
    for (const answer of answers) await answer.text();
    const { 'createChatCompletion mock/model 200 ': _, ...refused } = await read(
      'gatehouse_gateway_requests_total',
    );
    assert.deepEqual(refused, {
      'createChatCompletion  401 invalid_api_key': 1,
      'createChatCompletion mock/model 402 budget_exhausted': 1,
      'createChatCompletion other 404 model_not_found': 1,
      '  404 not_found': 1,
    });
    assert.deepEqual(await read('gatehouse_gateway_credit_refusals_total'), { budget_exhausted: 1 });
  });

  it('tell whether rates are counted together with other processes', async () => {
    assert.deepEqual(await read('gatehouse_rates_shared'), {});
    const shared = new Metrics();
    let isShared = true;
    const rates = { ...createSlidingWindow(() => 0), isShared: () => isShared };
    await using _ = await startTestGateway(bench.database, { metrics: shared, rates });
    const value = async () =>
      (await shared.collect()).find(({ name }) => name === 'gatehouse_rates_shared')?.series[0]?.[1];
    assert.equal(await value(), 1);
    isShared = false;
    assert.equal(await value(), 0);
  });

  it('count failed attempts, and tell which breaker is open', async () => {
    const { provider } = bench;
    const { script } = provider;
    provider.script = json({ error: { message: 'slow down' } }, 429, { 'retry-after': '30' });
    await (await gateway.chat(bench.key.secret)).text();
    provider.script = json({ error: { message: 'no' } }, 500);
    await (await gateway.chat(bench.key.secret)).text();
    const requests = await read('gatehouse_gateway_requests_total');
    assert.equal(requests['createChatCompletion mock/model 500 '], 1, "a provider's own error is no refusal");
    const attempts = await read('gatehouse_upstream_attempts_total');
    assert.deepEqual(
      Object.entries(attempts).map(([labels, count]) => [labels.split(' ').at(-1), count]),
      [
        ['served', 1],
        ['error_status', 2],
      ],
    );
    assert.deepEqual(Object.values(await read('gatehouse_upstream_breaker_state')), [2]);
    gateway.time.advance(31_000);
    assert.deepEqual(Object.values(await read('gatehouse_upstream_breaker_state')), [1]);
    provider.script = json({ error: { message: 'no such parameter' } }, 400);
    await (await gateway.chat(bench.key.secret)).text();
    provider.script = script;
    assert.deepEqual(Object.values(await read('gatehouse_upstream_breaker_state')), [0]);
    const [name = ''] = Object.keys(attempts);
    const { [name.replace(/served$/, 'request_error')]: ofRequests } = await read(
      'gatehouse_upstream_attempts_total',
    );
    assert.equal(ofRequests, 1);
  });
});
