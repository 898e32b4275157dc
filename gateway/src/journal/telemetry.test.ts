import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, describe, it } from 'node:test';
import { createTestTelemetry, useTestDatabase } from '@gatehouse/store/testing';
import { telemetryFor } from './telemetry.ts';
import { finished } from './testing/fixtures.ts';
import { openTestJournal } from './testing/test-journal.ts';

const test = await useTestDatabase();
const telemetry = await createTestTelemetry();
after(() => telemetry[Symbol.asyncDispose]());
const real = telemetryFor(telemetry.client, telemetry.database);
const { shipTelemetry, findInTelemetry } = real;
const newAccount = () => ({ organizationId: randomUUID(), projectId: randomUUID(), keyIds: [randomUUID()] });

describe('the journal on a real telemetry store', () => {
  it('stores every field where it belongs', async () => {
    await using opened = await openTestJournal(test.database, real);
    const { journal, account } = opened;
    const request = finished(account, {
      startedAtMicros: 1_795_000_000_123_456n,
      costMicroPkr: 2n ** 62n + 1n,
      isStream: false,
      isByok: true,
      ttftMs: null,
      cacheReadInputTokens: 5,
      status: 504,
      terminationReason: 'proxy_guillotine',
      upstreamError: 'it said "no"\0',
      metadata: new Map([
        ['__proto__', 'polluted'],
        ['team', 'red'],
      ]),
    });
    await journal.append(request);
    await journal.flush();
    assert.deepEqual(await rows(account.organizationId), [
      {
        organization_id: account.organizationId,
        timestamp: '2026-11-18 11:06:40.123456',
        request_id: request.requestId,
        key_id: request.keyId,
        project_id: request.projectId,
        model: 'openai/gpt-5-mini',
        status: 504,
        stream: false,
        total_ms: 812.5,
        ttft_ms: null,
        tpot_ms: 11,
        pre_dispatch_ms: 3,
        prompt_tokens: '120',
        tokens_generated: '64',
        cache_creation_input_tokens: null,
        cache_read_input_tokens: '5',
        total_tokens: '184',
        tokens_estimated: false,
        cost_micro_pkr: String(2n ** 62n + 1n),
        is_byok: 1,
        termination_reason: 'proxy_guillotine',
        refusal: '',
        upstream_error: 'it said "no"\ufffd',
        upstream_model: 'gpt-5-mini',
        user_agent: 'test',
        metadata: JSON.parse('{"__proto__":"polluted","team":"red"}'),
        request_count: 1,
        attempts: '',
      },
    ]);
  });

  it('stores how many rejected requests a row stands for, with the key and without', async () => {
    const account = newAccount();
    const ofOne = finished(account, { costMicroPkr: 0n, requestCount: 1_940 });
    const ofSeveral = { ...finished(account, { requestCount: 7 }), keyId: null, projectId: null };
    await shipTelemetry([ofOne, ofSeveral], randomUUID());
    const stored = (await rows(account.organizationId)) as { key_id: string | null; request_count: number }[];
    assert.deepEqual(
      new Map(stored.map((row) => [row.key_id, row.request_count])),
      new Map([
        [ofOne.keyId, 1_940],
        [null, 7],
      ]),
    );
  });

  it('finds what it has, among any number of rows, and nothing of others', async () => {
    const account = newAccount();
    const all = Array.from({ length: 2_300 }, (_, n) =>
      finished(account, { startedAtMicros: 1_795_000_000_000_000n + BigInt(n) * 3_600_000_000n }),
    );
    const stored = all.filter((_, n) => n % 3 === 0);
    await shipTelemetry(stored, randomUUID());
    await shipTelemetry([finished(account)], randomUUID());
    const found = await findInTelemetry(all);
    assert.deepEqual([...found].sort(), stored.map(({ requestId }) => requestId).sort());
  });

  it('drops a batch that comes again under its token', async () => {
    const account = newAccount();
    const batch = [finished(account), finished(account)];
    await shipTelemetry(batch, 'one token');
    await shipTelemetry(batch, 'one token');
    assert.equal((await rows(account.organizationId)).length, 2);
  });

  it('writes a dead letter of a row that the store cannot hold, and stores the rows around it', async () => {
    await using opened = await openTestJournal(test.database, real);
    const { journal, account } = opened;
    const requests = [finished(account), finished(account, { status: 70_000 }), finished(account)];
    await Promise.all(requests.map((request) => journal.append(request)));
    await journal.flush();
    const stored = await rows(account.organizationId);
    assert.deepEqual(
      stored.map(({ status }) => status),
      [200, 200],
    );
    assert.equal(journal.stats().deadLetters, 1);
  });

  async function rows(organizationId: string): Promise<Record<string, unknown>[]> {
    const answer = await telemetry.client.query({
      query: `SELECT * FROM ${telemetry.database}.request_log WHERE organization_id = {organization:UUID}`,
      query_params: { organization: organizationId },
      format: 'JSONEachRow',
    });
    return answer.json();
  }
});
