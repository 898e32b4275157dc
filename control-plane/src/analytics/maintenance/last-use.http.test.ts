import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { keys, organization } from '@gatehouse/contract';
import { createTestTelemetry } from '@gatehouse/store/testing';
import { addRequests, requestRow } from '../../testing/requests.ts';
import { startTestApi } from '../../testing/test-api.ts';
import { maintainTelemetry } from './maintain-telemetry.ts';

describe('GET /keys after maintenance of the telemetry store', () => {
  it('200 with the last use of keys whose requests are gone, or that the view missed', async () => {
    await using telemetry = await createTestTelemetry();
    await using api = await startTestApi({}, { telemetry: telemetry.client });
    const { client, organizationId } = await api.signUp();
    const { projects } = await client.call(organization.listProjects);
    const mint = (name: string) =>
      client.call(keys.createKey, { body: { project_id: projects[0]?.id, name } });
    const [old, missed] = [await mint('old'), await mint('missed')];
    const use = (keyId: string, time: string) =>
      addRequests(telemetry, [
        requestRow({ organizationId, keyId, startedAtMicros: BigInt(Date.parse(time)) * 1000n }),
      ]);
    const listed = async () =>
      new Map((await client.call(keys.listKeys)).keys.map((key) => [key.name, key.last_used_at]));

    await use(old.id, '2026-01-31T10:20:30Z');
    await use(missed.id, '2026-02-01T00:00:00Z');
    // Waits until no insert holds it any more: until then it could not be attached again.
    await telemetry.client.command({ query: 'DETACH TABLE key_last_used_from_request_log SYNC' });
    await use(missed.id, '2026-02-02T10:20:30Z');
    await telemetry.client.command({ query: 'ATTACH TABLE key_last_used_from_request_log' });
    assert.equal((await listed()).get('missed'), '2026-02-01T00:00:00.000000+00:00');

    const now = new Date('2026-03-05T00:00:00Z');
    const kept = await Array.fromAsync(maintainTelemetry(telemetry.client, { retentionDays: 30, now }));
    assert.deepEqual(kept, [
      { done: 'last-used-repaired', keys: 1 },
      { done: 'month-dropped', month: '2026-01', requests: 1 },
    ]);
    assert.deepEqual(
      await listed(),
      new Map([
        ['old', '2026-01-31T10:20:30.000000+00:00'],
        ['missed', '2026-02-02T10:20:30.000000+00:00'],
      ]),
    );
  });
});
