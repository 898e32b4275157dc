import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { analytics, auth, keys, organization } from '@gatehouse/contract';
import { ApiClient } from '@gatehouse/control-plane/testing';
import { eventually, startService } from '../service-process.ts';

// A key of one request a minute sends thousands, each with the maximum of metadata. The request log, the
// journal and the log stay small, and usage-throttling counts every one of them, across a restart.

const ACCOUNT = { email: 'ada@example.com', password: 'correct horse battery staple' };
const COUNT = 2_000;
const AT_ONCE = 32;
const LABELS = Object.fromEntries(
  Array.from({ length: 13 }, (_, n) => [`x-svc-meta-${n}`, 'm'.repeat(1_000)]),
);
const BODY = JSON.stringify({ model: 'demo/echo', messages: [{ role: 'user', content: 'Hi' }] });

describe('thousands of refused requests', () => {
  let directory: string;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gatehouse-refused-'));
  });
  after(() => rm(directory, { recursive: true, force: true }));
  const start = () => startService({ DATA_DIR: join(directory, 'data'), DISK_MIN_FREE_MB: '0' });

  /** Sends this many requests and counts their statuses. */
  async function send(port: number, secret: string): Promise<Record<string, number>> {
    const statuses: Record<string, number> = {};
    const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
    const headers = { ...LABELS, authorization: `Bearer ${secret}`, 'user-agent': 'u'.repeat(1_000) };
    const one = () =>
      new Promise<void>((resolve, reject) => {
        const path = '/v1/chat/completions';
        const sent = request({ host: '127.0.0.1', port, path, method: 'POST', agent, headers }, (answer) => {
          statuses[`${answer.statusCode}`] = (statuses[`${answer.statusCode}`] ?? 0) + 1;
          answer.resume().on('end', resolve);
        });
        sent.on('error', reject).end(BODY);
      });
    let left = COUNT;
    const some = async () => {
      while (left > 0) {
        left -= 1;
        await one();
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, some));
    agent.destroy();
    return statuses;
  }

  it('leave few rows and few lines, and every one of them is counted', async () => {
    let throttled: number;
    let minutes: number;
    {
      await using service = await start();
      const api = new ApiClient(service.apiPort);
      await api.call(auth.register, { body: { ...ACCOUNT, organization_name: 'Acme' } });
      await api.call(auth.login, { body: ACCOUNT });
      const project = (await api.call(organization.listProjects)).projects[0];
      const key = await api.call(keys.createKey, { body: { project_id: project?.id, name: 'one' } });
      await api.call(keys.updateKey, { params: { key_id: key.id }, body: { rate_limit_rpm: 1 } });
      const beganAt = performance.now();
      const statuses = await send(service.gatewayPort, key.api_key);
      minutes = 1 + Math.floor((performance.now() - beganAt) / 60_000);
      throttled = statuses['429'] ?? 0;
      assert.equal(throttled + (statuses['200'] ?? 0), COUNT);
      assert.ok(throttled >= COUNT - minutes, JSON.stringify(statuses));
      assert.equal(await service.end('SIGTERM'), 0);
      const lines = service.logLines.filter(({ operation }) => operation === 'createChatCompletion');
      assert.ok(lines.length <= minutes * (1 + 60 + 7), `${lines.length} lines`);
      assert.equal(
        lines.reduce((sum, line) => sum + Number(line['requests'] ?? 1), 0),
        COUNT,
      );
    }
    await using service = await start();
    const api = new ApiClient(service.apiPort);
    await api.call(auth.login, { body: ACCOUNT });
    const listed = await eventually(async () => {
      const [found] = (await api.call(analytics.getUsageThrottling)).keys;
      return found?.requests === COUNT ? found : undefined;
    });
    assert.equal(listed.throttled, throttled);
    assert.ok(listed.peak_rpm <= COUNT && listed.peak_rpm >= Math.floor(COUNT / (minutes + 1)));
    assert.equal((await api.call(analytics.getSummary)).total_requests, COUNT);

    const page = await api.call(analytics.listRequests, { query: { status_category: '4xx', limit: 200 } });
    assert.ok(page.total <= minutes * (60 + 7), `${page.total} rows`);
    let whole = 0;
    for (const row of page.requests) {
      // One that is alone in its ten seconds has a row of the same form, without a count.
      const isCombined = row.user_agent.length === 64;
      if (!isCombined) whole += row.request_count ?? 1;
      assert.equal(Object.values(row.metadata).join('').length, isCombined ? 0 : 1_022);
      assert.equal(row.user_agent, 'u'.repeat(isCombined ? 64 : 512));
    }
    assert.ok(whole >= 60 && whole <= minutes * 60, `${whole} rows of one request`);
  });
});
