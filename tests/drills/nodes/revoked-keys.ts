import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { keys } from '@gatehouse/contract';
import { NotAnswered } from './balanced-client.ts';
import type { NodesFleet } from './fleet.ts';
import { judgeRevocation } from './limit-judges.ts';
import type { Tenant } from './load.ts';
import { createCallers } from './requests.ts';

const ASKING = 4;
const AGAIN_MS = 200;

/** Mints keys, uses each over the balancer and revokes it meanwhile, until the signal. No request that begins after the answer to the
 *  revocation may be served, whichever gateway it reaches. */
export async function revokeKeys(fleet: NodesFleet, tenant: Tenant, signal: AbortSignal): Promise<string> {
  using callers = createCallers(fleet.balancer.gateway);
  const counts = { revoked: 0, refused: 0 };
  while (!signal.aborted) {
    const key = await tenant.mint().catch(unlessAway);
    if (key === undefined) continue;
    const before = callers.requests.length;
    let isOver = false;
    const asking = Promise.all(
      Array.from({ length: ASKING }, async () => {
        while (!isOver) {
          await callers.send(key.secret);
          await delay(AGAIN_MS * Math.random());
        }
      }),
    );
    await delay(AGAIN_MS * 3 * Math.random());
    let revokedAt: number;
    for (;;) {
      const reply = await tenant.api.send(keys.revokeKey, { params: { key_id: key.id } }).catch(unlessAway);
      revokedAt = performance.now();
      // 404 is the answer to the second one where the first was done and not answered: nginx may have sent both.
      if (reply?.status === 200 || reply?.status === 404) break;
      assert.ok(reply === undefined || reply.status === 503, reply?.text);
      await delay(AGAIN_MS);
    }
    counts.revoked += 1;
    await delay(AGAIN_MS * 3);
    isOver = true;
    await asking;
    counts.refused += judgeRevocation(callers.requests.slice(before), revokedAt);
  }
  assert.ok(counts.revoked > 0 && counts.refused > 0);
  return `${counts.revoked} keys revoked in use; ${counts.refused} later requests refused, none served`;
}

/** For what a node that is away explains: no answer, a 503, a connection that nginx closed. */
export function unlessAway(error: unknown): undefined {
  const isClosed = (error as NodeJS.ErrnoException).code === 'ECONNRESET';
  const isUnavailable = error instanceof assert.AssertionError && error.message.includes(' answered 503');
  if (!(error instanceof NotAnswered) && !isClosed && !isUnavailable) throw error;
}
