import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { gatewayMetrics } from '../declarations/index.ts';
import { Metrics } from '../instruments.ts';
import { openOtlp } from './open-otlp.ts';

const CALLERS = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const UNSAMPLED = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00';

interface Attribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

interface SentSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly kind: number;
  readonly attributes: readonly Attribute[];
  readonly status: { readonly code?: number };
}

/** The documents that a collector got, by path. */
let received: Record<string, unknown>[] = [];
let status = 200;
let beforeAnswer = async (): Promise<void> => undefined;
let collector: Server;

const plain = (attributes: readonly Attribute[]) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

function spans(): SentSpan[] {
  return received.flatMap((body) =>
    ((body['resourceSpans'] ?? []) as { scopeSpans: { spans: SentSpan[] }[] }[]).flatMap(({ scopeSpans }) =>
      scopeSpans.flatMap((scope) => scope.spans),
    ),
  );
}

function open(options: Partial<Parameters<typeof openOtlp>[0]> = {}) {
  received = [];
  const issues: string[] = [];
  const otlp = openOtlp({
    version: '1.2.3',
    process: 'gateway-1',
    sampler: 'parentbased_always_on',
    ratio: 1,
    metrics: new Metrics(),
    onIssue: (issue) => issues.push(issue),
    ...options,
  });
  return { ...otlp, issues };
}

describe('OpenTelemetry over HTTP', () => {
  before(async () => {
    collector = createServer(async (request, response) => {
      let text = '';
      for await (const chunk of request) text += chunk;
      received.push({ path: request.url, ...JSON.parse(text) });
      await beforeAnswer();
      response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
    });
    collector.listen(0, '127.0.0.1');
    await once(collector, 'listening');
    process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] =
      `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
    process.env['OTEL_RESOURCE_ATTRIBUTES'] = 'deployment.environment.name=test';
  });
  after(() => {
    delete process.env['OTEL_EXPORTER_OTLP_ENDPOINT'];
    delete process.env['OTEL_RESOURCE_ATTRIBUTES'];
    collector.close();
    collector.closeAllConnections();
  });

  it('sends a request and its calls as one trace, below the span of the caller', async () => {
    const otlp = open();
    const request = otlp.tracing.begin('POST', CALLERS);
    const call = request.begin('chat gpt', { 'gen_ai.operation.name': 'chat', nothing: undefined });
    assert.match(call.traceparent, /^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-01$/);
    call.end({ 'http.response.status_code': 503 }, '503');
    request.end({ 'gatehouse.route': 'r' }, undefined, 'POST /v1/chat/completions');
    await otlp[Symbol.asyncDispose]();
    const [sentCall, sentRequest] = spans();
    assert.equal(received[0]?.['path'], '/v1/traces');
    assert.equal(sentRequest?.name, 'POST /v1/chat/completions');
    assert.deepEqual([sentRequest?.kind, sentCall?.kind], [2, 3]);
    assert.equal(sentRequest?.traceId, '0af7651916cd43dd8448eb211c80319c');
    assert.equal(sentRequest?.parentSpanId, 'b7ad6b7169203331');
    assert.equal(sentCall?.parentSpanId, sentRequest?.spanId);
    assert.deepEqual(plain(sentCall?.attributes ?? []), {
      'gen_ai.operation.name': 'chat',
      'http.response.status_code': 503,
      'error.type': '503',
    });
    assert.deepEqual([sentCall?.status.code, sentRequest?.status.code], [2, 0]);
    const [{ resource } = { resource: { attributes: [] } }] = (received[0]?.['resourceSpans'] ?? []) as {
      resource: { attributes: Attribute[] };
    }[];
    const { 'service.instance.id': instance, ...named } = plain(resource.attributes);
    assert.match(String(instance), /^[0-9a-f-]{36}$/);
    assert.equal(named['service.name'], 'gatehouse');
    assert.equal(named['service.version'], '1.2.3');
    assert.equal(named['gatehouse.process'], 'gateway-1');
    assert.equal(named['deployment.environment.name'], 'test');
    assert.deepEqual(otlp.issues, []);
  });

  it('begins a trace where the caller has none, or none that is valid', async () => {
    const otlp = open();
    for (const given of [undefined, 'x', '00-00000000000000000000000000000000-b7ad6b7169203331-01']) {
      otlp.tracing.begin('GET', given).end({});
    }
    await otlp[Symbol.asyncDispose]();
    const sent = spans();
    assert.equal(sent.length, 3);
    assert.equal(new Set(sent.map(({ traceId }) => traceId)).size, 3);
    assert.deepEqual(
      sent.map(({ parentSpanId }) => parentSpanId ?? ''),
      ['', '', ''],
    );
  });

  it('follows the sampler, and passes the decision on', async () => {
    for (const [sampler, given, kept] of [
      ['parentbased_always_on', UNSAMPLED, 0],
      ['always_on', UNSAMPLED, 1],
      ['always_off', CALLERS, 0],
      ['parentbased_always_off', CALLERS, 1],
      ['traceidratio', CALLERS, 0],
    ] as const) {
      const otlp = open({ sampler, ratio: 0 });
      const span = otlp.tracing.begin('GET', given);
      assert.equal(span.isSampled, kept === 1, sampler);
      assert.equal(span.traceparent.endsWith(kept === 1 ? '-01' : '-00'), true, sampler);
      span.begin('call', {}).end({});
      span.end({});
      await otlp[Symbol.asyncDispose]();
      assert.equal(spans().length, 2 * kept, sampler);
    }
  });

  it('sends the metrics of the process when it ends', async () => {
    const metrics = new Metrics();
    metrics.counter(gatewayMetrics.cost).with('m').add(1.5);
    metrics.histogram(gatewayMetrics.addedSeconds).with('createMessage').observe(0.002);
    metrics.observe(gatewayMetrics.inFlight, (report) => report(7));
    const otlp = open({ metrics });
    await otlp[Symbol.asyncDispose]();
    const [body] = received.filter(({ path }) => path === '/v1/metrics');
    const [{ scopeMetrics } = { scopeMetrics: [] }] = (body?.['resourceMetrics'] ?? []) as {
      scopeMetrics: { metrics: Record<string, never>[] }[];
    }[];
    const sent = JSON.parse(JSON.stringify(scopeMetrics[0]?.metrics ?? []));
    const [cost, added, inFlight] = sent;
    assert.equal(cost.name, 'gatehouse_gateway_cost_pkr_total');
    assert.deepEqual([cost.sum.isMonotonic, cost.sum.aggregationTemporality], [true, 2]);
    assert.equal(cost.sum.dataPoints[0].asDouble, 1.5);
    assert.deepEqual(plain(cost.sum.dataPoints[0].attributes), { model: 'm' });
    assert.deepEqual([added.unit, Number(added.histogram.dataPoints[0].count)], ['s', 1]);
    assert.equal(
      added.histogram.dataPoints[0].bucketCounts.length,
      gatewayMetrics.addedSeconds.buckets.length + 1,
    );
    assert.equal(inFlight.gauge.dataPoints[0].asDouble, 7);
  });

  it('tells of a collector that refuses, and ends all the same', async () => {
    status = 400;
    const otlp = open();
    otlp.tracing.begin('GET', undefined).end({});
    await otlp[Symbol.asyncDispose]();
    status = 200;
    assert.ok(otlp.issues.length > 0);
  });

  it('keeps 2,048 spans at most while the collector does not answer', async () => {
    const first = Promise.withResolvers<void>();
    beforeAnswer = () => first.promise;
    const otlp = open();
    for (let n = 0; n < 10_000; n += 1) otlp.tracing.begin('GET', undefined).end({});
    const ended = otlp[Symbol.asyncDispose]();
    first.resolve();
    await ended;
    // One batch was on its way.
    assert.equal(spans().length, 2_048 + 128);
  });
});
