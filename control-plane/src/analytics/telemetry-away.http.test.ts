import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { activity, analytics, catalogue, keys, organization } from '@gatehouse/contract';
import { BREAKAGES, type Breakage, bounded, startBrokenTelemetry } from '../testing/broken-telemetry.ts';
import { comparable } from '../testing/comparable.ts';
import { startTestApi, type TestApi } from '../testing/test-api.ts';

const ENDPOINTS = [analytics.getSummary, analytics.listRequests];

// What each endpoint's first question would be answered with, were the store well.
const ROW = {
  requests: '1',
  mean_total_ms: 1,
  mean_ttft_ms: null,
  timed_tokens: '0',
  timed_ms: null,
  tokens: '1',
  cost: '1',
  matching: '1',
};

async function refuses503(api: TestApi) {
  const { client } = await api.signUp();
  for (const endpoint of ENDPOINTS) {
    const reply = await bounded(client.send(endpoint));
    assert.equal(reply.status, 503);
    assert.equal(reply.text, '{"error":"analytics backend unavailable"}');
    const causes = api.logLines.filter(
      (line) => line['request_id'] === reply.headers['x-request-id'] && line['msg'] !== 'request',
    );
    assert.equal(causes.length, 1);
  }
}

describe('analytics while the telemetry store refuses connections', () => {
  it('503 with the sentence of the specification, and one log line with the cause', async () => {
    await using api = await startTestApi();
    await refuses503(api);
    const logged = api.logLines.filter((line) => line['msg'] === 'the telemetry store cannot be used');
    assert.equal(logged.length, ENDPOINTS.length);
    for (const { err } of logged) assert.match(JSON.stringify(err), /TelemetryUnavailable.*ECONNREFUSED/);
  });

  it('401, then 400, then 404, and only then 503', async () => {
    await using api = await startTestApi();
    const [account, stranger] = [await api.signUp(), await api.signUp()];
    const { projects } = await stranger.client.call(organization.listProjects);
    const foreign = await stranger.client.call(keys.createKey, {
      body: { project_id: projects[0]?.id, name: 'k' },
    });
    const { client } = account;
    for (const endpoint of ENDPOINTS) {
      const wrong = { time_range: 'x', key_id: foreign.id };
      await api.anonymous().refused(endpoint, 401, { query: wrong });
      await client.refused(endpoint, 400, { query: wrong });
      await client.refused(endpoint, 404, { query: { key_id: foreign.id } });
      await client.refused(endpoint, 503);
    }
    const wrong = { status_category: '9xx', key_id: foreign.id };
    await client.refused(analytics.listRequests, 400, { query: wrong });
    await client.refused(analytics.listRequests, 503, { query: { offset: 2_000_000_000 } });
  });

  it('404 alike for a project or key that is foreign, unknown or malformed', async () => {
    await using api = await startTestApi();
    const [account, stranger] = [await api.signUp(), await api.signUp()];
    const { projects } = await stranger.client.call(organization.listProjects);
    const foreign = await stranger.client.call(keys.createKey, {
      body: { project_id: projects[0]?.id, name: 'k' },
    });
    for (const endpoint of ENDPOINTS) {
      for (const [name, foreignId] of [
        ['project_id', foreign.project_id],
        ['key_id', foreign.id],
      ] as const) {
        const replies = [];
        for (const id of [foreignId, randomUUID(), 'not-a-uuid', `{${foreignId}}`, `${foreignId} `, "'"]) {
          const reply = await account.client.send(endpoint, { query: { [name]: id } });
          assert.equal(reply.status, 404);
          replies.push(comparable(reply));
        }
        for (const reply of replies) assert.deepEqual(reply, replies[0]);
      }
    }
  });

  it('200 from everything else', async () => {
    await using api = await startTestApi();
    const { client } = await api.signUp();
    for (const endpoint of [
      keys.listKeys,
      catalogue.listRoutes,
      organization.listProjects,
      activity.listActivity,
    ]) {
      assert.equal((await client.send(endpoint)).status, 200);
    }
  });
});

describe('analytics while the telemetry store is broken', () => {
  for (const breakage of Object.keys(BREAKAGES) as Breakage[]) {
    it(`503 when it ${breakage}`, async () => {
      await using broken = await startBrokenTelemetry(breakage, ROW);
      await using api = await startTestApi({ analyticsTimeoutMs: 300 }, { telemetry: broken.client });
      await refuses503(api);
    });
  }
});
