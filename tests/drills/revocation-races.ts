import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { keys } from '@gatehouse/contract';
import type { Fleet } from './gateway-fleet.ts';

export interface Revocations {
  races: number;
  served: number;
  refused: number;
  /** Requests that began before the DELETE was answered, and were served. */
  servedMeanwhile: number;
}

const ASKING = 4;

/**
 * Mints a key, uses it continuously on both gateways, and revokes it meanwhile. Throws when a request
 * that began after the answer to the DELETE is not refused.
 */
export async function race(fleet: Fleet, told: Revocations, number: number): Promise<void> {
  const key = await fleet.mint();
  let answeredAt = Number.POSITIVE_INFINITY;
  const asking = Array.from({ length: ASKING }, async (_, client) => {
    for (;;) {
      const beganAt = performance.now();
      const status = await fleet.ask((client % 2) as 0 | 1, key.secret);
      const endedAt = performance.now();
      if (status === 401) {
        told.refused += 1;
        // One more request that certainly begins later.
        if (beganAt > answeredAt) return;
        continue;
      }
      assert.equal(status, 200);
      assert.ok(
        beganAt < answeredAt,
        `a request began ${beganAt - answeredAt} ms after the DELETE was answered, and was served`,
      );
      told.served += 1;
      if (endedAt > answeredAt) told.servedMeanwhile += 1;
    }
  });
  // Vary the moment: sometimes before the first request, sometimes after several.
  await delay((number * 7) % 13);
  await fleet.api.call(keys.revokeKey, { params: { key_id: key.id } });
  answeredAt = performance.now();
  await Promise.all(asking);
  told.races += 1;
}

export function nothingTold(): Revocations {
  return { races: 0, served: 0, refused: 0, servedMeanwhile: 0 };
}
