import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { createTestDatabase, runSql, type TestDatabase } from '@gatehouse/store/testing';
import { checkChanges, nothingTold } from './changes-load.ts';

// A drill that cannot fail proves nothing: each test plants one thing that its check must name.

const PREFIX = 'sk_svc_abcde';

describe('the check of changes against the activity log', () => {
  let test: TestDatabase;
  let organizationId: string;
  const sql = () => runSql(test.owner);
  const record = (action: string, target: string) =>
    sql()`SELECT append_activity(${organizationId}, NULL, ${action}, ${target}, '::1')`;
  const insertKey = () => sql()`
    INSERT INTO api_keys (organization_id, project_id, name, key_prefix, secret_hash, rate_limit_rpm, environment)
    SELECT organization_id, id, 'k', ${PREFIX}, sha256(uuid_send(id)), 60, 'production' FROM projects`;

  beforeEach(async () => {
    test = await createTestDatabase();
    const [row] = await runSql<{ id: string }>(test.owner)`
      INSERT INTO organizations (name, name_key) VALUES ('Acme', 'acme') RETURNING id`;
    organizationId = row?.id ?? assert.fail('no organisation');
    await sql()`INSERT INTO users (organization_id, email, role) VALUES (${organizationId}, 'a@example.com', 'owner')`;
    await sql()`INSERT INTO projects (organization_id, name) VALUES (${organizationId}, 'Default')`;
    await sql()`INSERT INTO deposits (organization_id, amount_micro_pkr) VALUES (${organizationId}, 5000000)`;
    await record('member.joined', 'a@example.com');
    await record('budget.deposited', '5.00 PKR');
  });
  afterEach(() => test[Symbol.asyncDispose]());

  it('finds nothing where each change has its entry, and counts', async () => {
    await insertKey();
    await record('api_key.created', PREFIX);
    const told = nothingTold();
    told.acknowledged.set(`api_key.created ${PREFIX}`, 1);
    told.refused.add('Other');
    assert.deepEqual(await checkChanges(test.owner, told), { changes: 3n, entries: 3n });
  });

  for (const [what, plant, message] of [
    ['a change without its entry', insertKey, /^api_key.created sk_svc_abcde: 1 changes and 0 entries/],
    [
      'an entry without its change',
      () => record('api_key.created', PREFIX),
      /^api_key.created sk_svc_abcde: 0 changes and 1 entries/,
    ],
    [
      'an entry that is doubled',
      () => record('member.joined', 'a@example.com'),
      /^member.joined a@example.com: 1 changes and 2 entries/,
    ],
    ['a rename that was not done', () => record('org.renamed', 'Other'), /^renamed without an entry/],
    ['a vault without its key', () => record('vault_key.set', 'openai'), /^a vault does not match/],
    ['an organisation without an owner', () => sql()`UPDATE users SET role = 'member'`, /is half made/],
    [
      'an entry that was changed',
      async () => {
        const client = await test.owner.connect();
        await client.query(`SET session_replication_role = 'replica'`);
        await client.query(`UPDATE activity_events SET source_ip = '::2' WHERE sequence = 1`);
        await client.end();
      },
      /^the chain of Acme is broken/,
    ],
  ] as const)
    it(`names ${what}`, async () => {
      await plant();
      await assert.rejects(checkChanges(test.owner, nothingTold()), { message });
    });

  it('names what was acknowledged and is lost, and what was refused and is there', async () => {
    const lost = nothingTold();
    lost.acknowledged.set('member.joined a@example.com', 2);
    await assert.rejects(checkChanges(test.owner, lost), /was acknowledged and has no entry/);
    await record('org.renamed', 'Acme');
    const refused = nothingTold();
    refused.refused.add('Acme');
    await assert.rejects(checkChanges(test.owner, refused), /Acme was refused and has an entry/);
  });
});
