import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createTestTelemetry, type TestTelemetry } from '@gatehouse/store/testing';
import { makeBenchProfile } from './bench-profile.ts';
import { fillRequestLog } from './fill-request-log.ts';

// A model with a higher price counts as larger and slower.

const END_MICROS = BigInt(Date.parse('2026-11-20T10:30:00Z')) * 1000n;
const MICRO_PER_PKR = 1_000_000n;

describe('the rows of a model at any price', () => {
  let telemetry: TestTelemetry;
  before(async () => {
    telemetry = await createTestTelemetry();
  });
  after(() => telemetry[Symbol.asyncDispose]());

  // Free, the highest on the market, one above it, and the highest that a catalogue allows.
  for (const pkrPerMillion of [0n, 50_000n, 2_000_000n, 9_007_199_254n]) {
    it(`have possible times and costs at ${pkrPerMillion} PKR per million tokens`, async () => {
      const { organizations, models } = makeBenchProfile({ organizations: 2, seed: 5 });
      const price = pkrPerMillion * MICRO_PER_PKR;
      const profile = {
        organizations,
        // Without its own speed, so that the price decides.
        models: models.slice(0, 1).map(({ firstTokenMs: _, tokensPerSecond: __, ...model }) => ({
          ...model,
          inputMicroPkrPerMillion: price,
          outputMicroPkrPerMillion: price,
          cacheWriteMicroPkrPerMillion: price,
          cacheReadMicroPkrPerMillion: price,
        })),
      };
      await telemetry.client.command({ query: 'TRUNCATE TABLE request_log' });
      const options = { rows: 4_000, days: 30, endMicros: END_MICROS, seed: 5 };
      await fillRequestLog(telemetry.client, telemetry.database, profile, options);
      const answer = await telemetry.client.query({
        query: `SELECT toUInt32(count()) AS rows,
                  toUInt32(countIf(total_ms <= 0 OR pre_dispatch_ms < 0 OR pre_dispatch_ms > total_ms)) AS impossible,
                  toUInt32(countIf(ttft_ms <= 0 OR ttft_ms > total_ms OR tpot_ms < 0)) AS impossible_streams,
                  toUInt32(countIf(cost_micro_pkr < 0)) AS negative,
                  max(total_ms) AS longest_ms
                FROM request_log`,
        format: 'JSONEachRow',
      });
      const [figures] = await answer.json<Record<string, number>>();
      const { longest_ms: longestMs = 0, ...counts } = figures ?? {};
      assert.deepEqual(counts, { rows: 4_000, impossible: 0, impossible_streams: 0, negative: 0 });
      // No request takes longer than the longest timeout of a route.
      assert.ok(longestMs < 700_000, String(longestMs));
    });
  }
});
