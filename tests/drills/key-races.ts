import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type KeyId, keys, type OrganizationId, organization, type RequestId } from '@gatehouse/contract';
import type { SignedUp, TestApi } from '@gatehouse/control-plane/testing';
import { settle } from '@gatehouse/gateway/testing';
import { runSql } from '@gatehouse/store/testing';
import { seeded } from './seeded.ts';

// Repeated races of two requests for one key. Each round starts them together or one slightly later, so
// that they interleave at every point.

export interface Racer extends SignedUp {
  readonly projectId: string;
}

export async function signUpRacer(api: TestApi): Promise<Racer> {
  const account = await api.signUp();
  const { projects } = await account.client.call(organization.listProjects);
  return { ...account, projectId: projects[0]?.id ?? '' };
}

const mint = ({ client, projectId }: Racer) =>
  client.call(keys.createKey, { body: { project_id: projectId, name: 'k' } });

/** Waits for a random number of event loop turns: a head start of microseconds to a millisecond. */
async function headStart(random: () => number, turns: number): Promise<void> {
  for (let left = Math.floor(random() * turns); left > 0; left -= 1)
    await new Promise((resolve) => setImmediate(resolve));
}

export interface LimitRaces {
  readonly rounds: number;
  /** The number of limits set before the settlement, and of those refused because of it. */
  readonly accepted: number;
  readonly refused: number;
}

/**
 * Races a limit equal to the spend against a settlement. A trigger records the spend whenever a
 * limit is written, as it will be committed; it may never exceed the limit.
 */
export async function raceLimitsAndSettlements(
  api: TestApi,
  rounds: number,
  seed: number,
): Promise<LimitRaces> {
  await runSql(api.owner)`
    CREATE TABLE drill_limits (key_id uuid, limit_micro_pkr bigint, spent_micro_pkr bigint)`;
  await runSql(api.owner)`
    CREATE FUNCTION drill_note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
    BEGIN
      INSERT INTO drill_limits VALUES (NEW.id, NEW.credit_limit_micro_pkr, NEW.spent_micro_pkr);
      RETURN NULL;
    END $$`;
  await runSql(api.owner)`
    CREATE TRIGGER drill_note AFTER UPDATE OF credit_limit_micro_pkr ON api_keys
    FOR EACH ROW EXECUTE FUNCTION drill_note()`;
  const racer = await signUpRacer(api);
  const random = seeded(seed);
  let key = await mint(racer);
  let spent = 0n;
  const count = { accepted: 0, refused: 0 };
  const settleOne = async (costMicroPkr: bigint) => {
    await headStart(random, 40);
    const organizationId = racer.organizationId as OrganizationId;
    const requestId = randomUUID() as string as RequestId;
    await settle(api.database, [{ requestId, organizationId, keyId: key.id as KeyId, costMicroPkr }]);
  };
  for (let round = 0; round < rounds; round += 1) {
    // Regularly a new key, otherwise one key spends the whole budget.
    if (round % 100 === 0) {
      await racer.client.call(keys.revokeKey, { params: { key_id: key.id } });
      key = await mint(racer);
      spent = 5_000_000n;
      await settleOne(spent);
    }
    const cost = 1_000_000n;
    const [reply] = await Promise.all([
      headStart(random, 40).then(() =>
        racer.client.send(keys.updateKey, {
          params: { key_id: key.id },
          body: { rate_limit_rpm: 60, credit_limit_pkr: Number(spent / 1_000_000n) },
        }),
      ),
      settleOne(cost),
    ]);
    if (reply.status === 200) count.accepted += 1;
    else {
      const said = `Credit limit cannot be below the ${(spent + cost) / 1_000_000n}.00 PKR this key has already spent.`;
      assert.deepEqual([reply.status, JSON.parse(reply.text)], [400, { error: said }]);
      count.refused += 1;
    }
    spent += cost;
  }
  const noted = await runSql<{ updates: bigint; broken: bigint }>(api.owner)`
    SELECT count(*) AS updates, count(*) FILTER (WHERE spent_micro_pkr > limit_micro_pkr) AS broken FROM drill_limits`;
  assert.deepEqual(noted, [{ updates: BigInt(count.accepted), broken: 0n }]);
  const settled = await runSql(api.owner)`
    SELECT k.id FROM api_keys k
    WHERE k.spent_micro_pkr <> (SELECT coalesce(sum(s.cost_micro_pkr), 0) FROM settlements s WHERE s.key_id = k.id)`;
  assert.deepEqual(settled, [], 'what is spent is not what was settled');
  return { rounds, ...count };
}

export interface RevocationRaces {
  readonly rounds: number;
  /** The number of updates before the revocation, and of those that found the key revoked. */
  readonly updated: number;
  readonly gone: number;
}

/** Races an update against a revocation. The log never has an update after the revocation, nor a refused one. */
export async function raceUpdatesAndRevocations(
  api: TestApi,
  rounds: number,
  seed: number,
): Promise<RevocationRaces> {
  const racer = await signUpRacer(api);
  const random = seeded(seed);
  const expected: string[] = [];
  const count = { updated: 0, gone: 0 };
  for (let round = 0; round < rounds; round += 1) {
    const key = await mint(racer);
    const given = { params: { key_id: key.id } };
    const [update] = await Promise.all([
      headStart(random, 40).then(() =>
        racer.client.send(keys.updateKey, { ...given, body: { rate_limit_rpm: 1 } }),
      ),
      headStart(random, 40).then(() => racer.client.call(keys.revokeKey, given)),
    ]);
    assert.ok(update.status === 200 || update.status === 404, update.text);
    count[update.status === 200 ? 'updated' : 'gone'] += 1;
    expected.push(`api_key.created ${key.key_prefix}`);
    if (update.status === 200) expected.push(`api_key.updated ${key.key_prefix}`);
    expected.push(`api_key.revoked ${key.key_prefix}`);
  }
  const entries = await runSql<{ entry: string }>(api.owner)`
    SELECT action || ' ' || target AS entry FROM activity_events
    WHERE organization_id = ${racer.organizationId} AND action LIKE 'api\\_key.%' ORDER BY sequence`;
  assert.deepEqual(
    entries.map(({ entry }) => entry),
    expected,
  );
  return { rounds, ...count };
}

/** Concurrent revocations of one key: exactly one succeeds and is recorded. */
export async function raceRevocations(api: TestApi, atOnce: number): Promise<void> {
  const racer = await signUpRacer(api);
  const key = await mint(racer);
  const given = { params: { key_id: key.id } };
  const replies = await Promise.all(
    Array.from({ length: atOnce }, () => racer.client.copy().send(keys.revokeKey, given)),
  );
  assert.deepEqual(replies.map(({ status }) => status).sort(), [200, ...Array(atOnce - 1).fill(404)]);
  const entries = await runSql(api.owner)`
    SELECT FROM activity_events WHERE organization_id = ${racer.organizationId} AND action = 'api_key.revoked'`;
  assert.equal(entries.length, 1);
}
