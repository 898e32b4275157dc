import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { auth, keys, organization } from '@gatehouse/contract';
import { ApiClient } from '@gatehouse/control-plane/testing';
import { startService } from '../service-process.ts';

// A running service sends its traces and metrics to a collector; without one that answers it serves all the same.

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PROMPT = 'words that nobody else may read';

let dataDir: string;

interface SentSpan {
  readonly name: string;
  readonly traceId: string;
}

async function startCollector() {
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    bodies.push(text);
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    text: () => bodies.join('\n'),
    spans: () =>
      bodies.flatMap((body) => {
        const { resourceSpans = [] } = JSON.parse(body) as {
          resourceSpans?: { scopeSpans: { spans: SentSpan[] }[] }[];
        };
        return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
      }),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

describe('OpenTelemetry of a running service', () => {
  before(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'gatehouse-tracing-'));
  });
  after(() => rm(dataDir, { recursive: true, force: true }));

  it('has the trace of the caller in the API and the gateway, and the metrics of both', async () => {
    const collector = await startCollector();
    let secret = '';
    {
      await using service = await startService({
        DATA_DIR: dataDir,
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
      });
      const client = new ApiClient(service.apiPort);
      const account = { email: 'ada@example.com', password: 'correct horse battery staple' };
      await client.call(auth.register, { body: { ...account, organization_name: 'Engines' } });
      await client.call(auth.login, { body: account });
      const [project] = (await client.call(organization.listProjects)).projects;
      const minted = await client.call(keys.createKey, {
        body: { project_id: project?.id ?? '', name: 'k' },
      });
      secret = minted.api_key;
      const answer = await fetch(`http://127.0.0.1:${service.gatewayPort}/v1/chat/completions`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${secret}`,
          'content-type': 'application/json',
          traceparent: `00-${TRACE}-b7ad6b7169203331-01`,
        },
        body: JSON.stringify({ model: 'demo/echo', messages: [{ role: 'user', content: PROMPT }] }),
      });
      assert.equal(answer.status, 200);
      assert.ok((await answer.text()).includes(PROMPT));
      for (const port of [service.apiPort, service.gatewayPort])
        for (const path of ['/healthz', '/readyz'])
          assert.equal((await fetch(`http://127.0.0.1:${port}${path}`)).status, 200);
    }
    // Both processes send what they have before they end.
    const ofCaller = collector.spans().filter(({ traceId }) => traceId === TRACE);
    assert.deepEqual(ofCaller.map(({ name }) => name).sort(), ['POST /v1/chat/completions', 'chat echo']);
    const names = new Set(collector.spans().map(({ name }) => name));
    assert.ok(names.has('POST /api/keys'), [...names].join());
    assert.deepEqual(
      [...names].filter((name) => name === 'GET' || /z\b/.test(name)),
      [],
    );
    const text = collector.text();
    assert.match(text, /"gatehouse_gateway_requests_total"/);
    assert.match(text, /"gatehouse_money_deposited_pkr"/);
    for (const hidden of [PROMPT, secret, 'ada@example.com', 'correct horse'])
      assert.ok(!text.includes(hidden));
    collector.close();
  });

  it('serves without a collector that answers, and warns of it', async () => {
    await using service = await startService({
      DATA_DIR: dataDir,
      // Nothing listens there.
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
      OTEL_EXPORTER_OTLP_TIMEOUT: '200',
    });
    for (let n = 0; n < 20; n += 1) {
      assert.equal((await fetch(`http://127.0.0.1:${service.apiPort}/api/keys`)).status, 401);
    }
    assert.equal(await service.end('SIGTERM'), 0);
    const warnings = service.logLines.filter(({ event }) => event === 'otlp.export_failing');
    // One of each process at most, however much fails. A line that is being written when a process exits may come twice.
    const different = new Set(warnings.map((line) => JSON.stringify(line)));
    assert.ok(different.size >= 1 && different.size <= 2, [...different].join());
    assert.match(String(warnings[0]?.['issue']), /ECONNREFUSED/);
  });
});
