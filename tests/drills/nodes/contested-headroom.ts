import assert from 'node:assert/strict';
import { keys } from '@gatehouse/contract';
import { sql, statement } from '@gatehouse/store';
import { BALANCE_PKR, type NodesFleet } from './fleet.ts';
import { judgeHeadroom } from './limit-judges.ts';
import type { Tenant } from './load.ts';
import { unlessAway } from './revoked-keys.ts';

const KEYS = 6;
const CLIENTS = 6;
const MAX_PKR = 400;

const listSums = statement<{ organizationId: string }, { updates: bigint; most: bigint }>(
  'drill-nodes-sums',
  sql`SELECT count(*) AS updates, coalesce(max(sum_micro_pkr), 0)::bigint AS most FROM drill_sums WHERE organization_id = ${'organizationId'}`,
);
const countEntries = statement<{ organizationId: string }, { entries: bigint }>(
  'drill-nodes-updates',
  sql`SELECT count(*) AS entries FROM activity_events WHERE organization_id = ${'organizationId'} AND action = 'api_key.updated'`,
);

/** Changes the limits of a few keys from several clients over both APIs until the signal. A trigger notes the sum of the limits after each change. */
export async function contestHeadroom(
  fleet: NodesFleet,
  tenant: Tenant,
  signal: AbortSignal,
): Promise<string> {
  const connection = await fleet.database.connect();
  try {
    await connection.query(`
      CREATE TABLE drill_sums (organization_id uuid NOT NULL, sum_micro_pkr bigint NOT NULL);
      CREATE FUNCTION drill_note_sum() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public AS $$
      BEGIN
        INSERT INTO drill_sums SELECT NEW.organization_id, coalesce(sum(credit_limit_micro_pkr), 0)
        FROM api_keys WHERE organization_id = NEW.organization_id AND revoked_at IS NULL;
        RETURN NULL;
      END $$;
      CREATE TRIGGER drill_note_sum AFTER UPDATE OF credit_limit_micro_pkr ON api_keys
      FOR EACH ROW EXECUTE FUNCTION drill_note_sum()`);
  } finally {
    await connection.end();
  }
  const minted: string[] = [];
  while (minted.length < KEYS) {
    const key = await tenant.mint().catch(unlessAway);
    if (key !== undefined) minted.push(key.id);
  }
  const counts = { accepted: 0, refused: 0, unknown: 0 };
  const client = async () => {
    while (!signal.aborted) {
      const reply = await tenant.api
        .send(keys.updateKey, {
          params: { key_id: minted[Math.floor(Math.random() * KEYS)] as string },
          body: { rate_limit_rpm: 60, credit_limit_pkr: 1 + Math.floor(Math.random() * MAX_PKR) },
        })
        .catch(unlessAway);
      if (reply?.status === 200) counts.accepted += 1;
      else if (reply?.status === 400) counts.refused += 1;
      else {
        assert.ok(reply === undefined || reply.status === 503, reply?.text);
        counts.unknown += 1;
      }
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  const organizationId = tenant.id;
  const sums = await fleet.database.one(listSums, { organizationId });
  const entries = (await fleet.database.one(countEntries, { organizationId }))?.entries ?? 0n;
  const budget = BigInt(BALANCE_PKR) * 1_000_000n;
  const { most, updates: noted } = sums ?? assert.fail('no sums');
  const { accepted, unknown } = counts;
  judgeHeadroom({ most, budget, noted, entries, accepted, unknown });
  assert.ok(counts.accepted > 0 && counts.refused > 0);
  return `${counts.accepted} changes of limits accepted, ${counts.refused} refused, ${counts.unknown} without an answer; the limits were never more than ${most / 1_000_000n} of ${BALANCE_PKR} PKR together`;
}
