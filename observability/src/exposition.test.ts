import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ALL_METRICS, apiMetrics, gatewayMetrics, METRIC_GROUPS, OWN_METRICS } from './declarations/index.ts';
import { expose } from './exposition.ts';
import { Metrics } from './instruments.ts';
import { createRuntimeMetrics } from './runtime-metrics.ts';

describe('declared metrics', () => {
  it('have unique names with the unit last, as Prometheus names them', () => {
    const names = ALL_METRICS.map(({ name }) => name);
    assert.equal(new Set(names).size, names.length);
    for (const { name, type, labels, buckets } of OWN_METRICS) {
      assert.match(name, /^gatehouse(_[a-z]+)+$/);
      assert.ok(!labels.includes('process') && labels.length <= 4, name);
      assert.equal(buckets.length > 0, type === 'histogram', name);
      assert.deepEqual(
        buckets,
        [...buckets].sort((a, b) => a - b),
      );
    }
  });

  it('have names and meanings that the lint of Prometheus accepts, those of the runtime too', () => {
    for (const { name, type, meaning } of ALL_METRICS) {
      assert.equal(/_total$/.test(name), type === 'counter', name);
      assert.doesNotMatch(
        name,
        /_(count|sum|bucket|info_total|gauge|counter|histogram|summary)$|[A-Z:]/,
        name,
      );
      assert.doesNotMatch(
        name,
        /(milli|micro|nano)seconds|_ms\b|_(minutes|hours|kilobytes|megabytes|percent)\b/,
        name,
      );
      assert.ok(meaning.length > 5, name);
    }
  });

  it('name no organisation, user or key in a label', () => {
    const labels = new Set(ALL_METRICS.flatMap((metric) => metric.labels));
    assert.deepEqual(
      [...labels].filter((label) => /org|user|key|project|email|request_id|^id$/.test(label)),
      [],
    );
  });

  it('are those that the runtime measures', async () => {
    const measured = (await createRuntimeMetrics().collect()).map(({ name }) => name).sort();
    const declared = METRIC_GROUPS.find(({ title }) => title === 'Node')
      ?.metrics.map(({ name }) => name)
      .sort();
    assert.deepEqual(measured, declared);
  });
});

describe('the text of a scrape', () => {
  it('has every series of every process, with the name of its process', async () => {
    const api = new Metrics();
    api.counter(apiMetrics.requests).with('createKey', '201').add(3);
    const gateway = new Metrics();
    const added = gateway.histogram(gatewayMetrics.addedSeconds);
    added.with('createMessage').observe(0.0004);
    added.with('createMessage').observe(99);
    gateway.counter(gatewayMetrics.cost).with('a "model"\\').add(0.25);
    gateway.counter(gatewayMetrics.tokens);
    const text = await expose(
      new Map([
        ['api', { own: await api.collect(), runtime: [] }],
        [
          'gateway-1',
          {
            own: await gateway.collect(),
            runtime: [{ name: 'process_start_time_seconds', values: [{ value: 7, labels: {} }] }],
          },
        ],
      ]),
    );
    const lines = text.split('\n');
    for (const line of [
      'gatehouse_api_requests_total{process="api",operation="createKey",status="201"} 3',
      'gatehouse_gateway_added_seconds_bucket{process="gateway-1",operation="createMessage",le="0.0005"} 1',
      'gatehouse_gateway_added_seconds_bucket{process="gateway-1",operation="createMessage",le="10"} 1',
      'gatehouse_gateway_added_seconds_bucket{process="gateway-1",operation="createMessage",le="+Inf"} 2',
      'gatehouse_gateway_added_seconds_count{process="gateway-1",operation="createMessage"} 2',
      'gatehouse_gateway_cost_pkr_total{process="gateway-1",model="a \\"model\\"\\\\"} 0.25',
      '# TYPE gatehouse_gateway_tokens_total counter',
      'process_start_time_seconds{process="gateway-1"} 7',
    ]) {
      assert.ok(lines.includes(line), `${line}\n\n${text}`);
    }
    const types = lines.filter((line) => line.startsWith('# TYPE'));
    assert.equal(types.length, 5);
  });
});
