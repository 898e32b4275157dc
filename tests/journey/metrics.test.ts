import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { auth, keys, organization } from '@gatehouse/contract';
import { ApiClient } from '@gatehouse/control-plane/testing';
import { ALL_METRICS } from '@gatehouse/observability';
import { startService } from '../service-process.ts';

// One port of the machine tells the metrics of all its processes.

let dataDir: string;

interface Sample {
  readonly name: string;
  readonly labels: string;
  readonly value: number;
}

async function scrape(port: number) {
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`);
  assert.equal(answer.status, 200);
  const text = await answer.text();
  const lines = text.split('\n');
  const samples = lines.flatMap((line): Sample[] => {
    const match = /^([a-z_0-9]+)\{(.*)\} (\S+)$/.exec(line);
    return match ? [{ name: match[1] ?? '', labels: match[2] ?? '', value: Number(match[3]) }] : [];
  });
  return {
    text,
    names: lines.flatMap((line) => /^# TYPE (\S+) /.exec(line)?.[1] ?? []),
    sum: (name: string, labels = '') =>
      samples
        .filter((sample) => sample.name === name && sample.labels.includes(labels))
        .reduce((sum, { value }) => sum + value, 0),
    processesOf: (name: string) =>
      samples
        .filter((sample) => sample.name === name)
        .flatMap(({ labels }) => /^process="([^"]+)"/.exec(labels)?.[1] ?? []),
  };
}

describe('metrics of a running service', () => {
  before(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'gatehouse-metrics-'));
  });
  after(() => rm(dataDir, { recursive: true, force: true }));

  it('are those that are declared, of all processes, and count what happened', async () => {
    await using service = await startService({
      DATA_DIR: dataDir,
      METRICS_PORT: '0',
      GATEWAY_PROCESSES: '2',
    });
    const port = service.logLines.find(({ event }) => event === 'service.ready')?.['metrics_port'] as number;
    assert.match(service.told(), new RegExp(`Metrics +http://127.0.0.1:${port}/metrics`));

    const client = new ApiClient(service.apiPort);
    const account = { email: 'ada@example.com', password: 'correct horse battery staple' };
    await client.call(auth.register, { body: { ...account, organization_name: 'Analytical Engines' } });
    await client.call(auth.login, { body: account });
    const [project] = (await client.call(organization.listProjects)).projects;
    const minted = await client.call(keys.createKey, { body: { project_id: project?.id ?? '', name: 'k' } });
    const answer = await fetch(`http://127.0.0.1:${service.gatewayPort}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${minted.api_key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'demo/echo', messages: [{ role: 'user', content: 'Hello' }] }),
    });
    assert.equal(answer.status, 200);
    await answer.text();

    const first = await scrape(port);
    assert.deepEqual(first.names.sort(), ALL_METRICS.map(({ name }) => name).sort());
    assert.deepEqual(first.processesOf('gatehouse_build_info'), ['api', 'gateway-1', 'gateway-2']);
    assert.deepEqual(first.processesOf('process_resident_memory_bytes'), ['api', 'gateway-1', 'gateway-2']);
    assert.equal(first.sum('gatehouse_process_up'), 3);
    assert.equal(first.sum('gatehouse_clickhouse_engine_up'), 1);
    assert.equal(first.sum('gatehouse_gateway_requests_total', 'model="demo/echo",status="200"'), 1);
    assert.equal(first.sum('gatehouse_api_requests_total', 'operation="createKey",status="201"'), 1);
    assert.equal(first.sum('gatehouse_money_deposited_pkr'), 1_000);
    assert.equal(first.sum('gatehouse_journal_appended_total'), 1);
    for (const secret of [minted.api_key, minted.key_prefix, 'ada@example.com', 'Analytical']) {
      assert.ok(!first.text.includes(secret), `the metrics name ${secret}`);
    }
  });

  it('need a free port, and a start without one ends with one line', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as { port: number };
    try {
      await assert.rejects(
        startService({ DATA_DIR: dataDir, METRICS_PORT: String(port) }),
        /METRICS_PORT is \d+, and another program already listens on that port/,
      );
    } finally {
      taken.close();
    }
  });
});
