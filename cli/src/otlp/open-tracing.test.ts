import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { PROXY_CREDENTIALS, startProxy } from '@gatehouse/http/testing';
import { Metrics } from '@gatehouse/observability';
import { readConfig } from '../config/config.ts';
import { openTracing, warnEachMinute } from './open-tracing.ts';

describe('a collector that fails', () => {
  it('is warned of once a minute, in a few words', () => {
    const lines: Record<string, unknown>[] = [];
    let nowMs = 0;
    const log = { warn: (fields: object) => lines.push({ ...fields }) } as never;
    const onIssue = warnEachMinute(log, () => nowMs);
    onIssue(JSON.stringify({ message: 'connect ECONNREFUSED', stack: 'x'.repeat(5_000) }));
    for (let n = 0; n < 100; n += 1) onIssue('again');
    nowMs = 60_000;
    onIssue('y'.repeat(5_000));
    const event = 'otlp.export_failing';
    assert.deepEqual(lines, [
      { event, issue: 'connect ECONNREFUSED' },
      { event, issue: 'y'.repeat(300), issues_since: 100 },
    ]);
  });
});

describe('a collector behind a proxy', () => {
  it('gets traces and metrics through it', async () => {
    const collector = createServer((request, response) => {
      request.resume().on('end', () => response.setHeader('content-type', 'application/json').end('{}'));
    });
    collector.listen(0, '127.0.0.1');
    await once(collector, 'listening');
    await using proxy = await startProxy((collector.address() as AddressInfo).port);
    const environment = {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector.example:4318',
      HTTP_PROXY: proxy.url.href,
    };
    // The exporter reads its variable itself.
    process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = environment.OTEL_EXPORTER_OTLP_ENDPOINT;
    try {
      const log = { warn: (fields: object) => assert.fail(JSON.stringify(fields)) } as never;
      const opened = await openTracing(readConfig(environment), 'test', new Metrics(), log);
      opened.tracing?.begin('GET', undefined).end({}, undefined);
      await opened[Symbol.asyncDispose]();
    } finally {
      delete process.env['OTEL_EXPORTER_OTLP_ENDPOINT'];
      collector.closeAllConnections();
      collector.close();
    }
    assert.deepEqual(proxy.asked.toSorted(), [
      'POST http://collector.example:4318/v1/metrics',
      'POST http://collector.example:4318/v1/traces',
    ]);
    assert.deepEqual(proxy.credentials, [PROXY_CREDENTIALS, PROXY_CREDENTIALS]);
  });
});

describe('the settings of OpenTelemetry', () => {
  it('have the names and values of the standard', () => {
    const config = readConfig({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
      OTEL_TRACES_SAMPLER: 'traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.05',
      TRACE_CONTEXT_TO: 'vllm, my gpu',
    });
    assert.deepEqual(
      [config.otlpEndpoint, config.tracesSampler, config.tracesSamplerRatio, [...config.traceContextTo]],
      ['http://collector:4318', 'traceidratio', 0.05, ['vllm', 'my gpu']],
    );
  });

  for (const [name, value] of [
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
    ['OTEL_TRACES_SAMPLER', 'sometimes'],
    ['OTEL_TRACES_SAMPLER_ARG', '2'],
    ['OTEL_TRACES_SAMPLER_ARG', '1e-1'],
    ['OTEL_TRACES_SAMPLER_ARG', '-0'],
    ['TRACE_CONTEXT_TO', 'a,,b'],
  ] as const) {
    it(`refuse ${name}=${value}`, () => {
      assert.throws(() => readConfig({ [name]: value }), new RegExp(`${name} is .*expected`));
    });
  }
});
