import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createTestDatabase, rawSql, runSql, type TestDatabase } from '@gatehouse/store/testing';
import { runCommand } from '../command-process.ts';

describe('gatehouse doctor', () => {
  let test: TestDatabase;
  let environment: Record<string, string>;
  let keyId: string;
  let organizationId: string;
  before(async () => {
    test = await createTestDatabase();
    const { host, port, user, database } = test.address;
    environment = {
      DATABASE_URL: `postgresql:///${database}?host=${encodeURIComponent(host)}&port=${port}&user=${user}`,
    };
    const [row] = await runSql<{ id: string; keyId: string }>(test.owner)`
      WITH o AS (INSERT INTO organizations (name, name_key) VALUES ('Acme', 'acme') RETURNING id),
           d AS (INSERT INTO deposits (organization_id, amount_micro_pkr) SELECT id, 5000000 FROM o),
           b AS (INSERT INTO balances (organization_id, deposited_micro_pkr) SELECT id, 5000000 FROM o),
           p AS (INSERT INTO projects (organization_id, name) SELECT id, 'Default' FROM o RETURNING id, organization_id),
           k AS (INSERT INTO api_keys (organization_id, project_id, name, key_prefix, secret_hash, rate_limit_rpm, environment)
                 SELECT organization_id, id, 'k', 'p', 'h', 60, 'testing' FROM p RETURNING id)
      SELECT o.id, k.id AS key_id FROM o, k`;
    organizationId = row?.id ?? assert.fail();
    keyId = row?.keyId ?? assert.fail();
  });
  after(() => test[Symbol.asyncDispose]());
  const doctor = (...options: string[]) => runCommand(['doctor', ...options], { environment });
  const owner = (text: string) => runSql(test.owner)`${rawSql(text)}`;

  it('exits with 0 when the ledger adds up, and prints what it checked', async () => {
    const { code, stdout, stderr } = await doctor();
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(
      stdout,
      /^1 organisation, 1 key, 0 settlements, 0 holds; schema step \d+\nEvery sum matches its rows\.\n$/,
    );
    const document = JSON.parse((await doctor('--json')).stdout) as Record<string, unknown>;
    assert.deepEqual([document['healthy'], document['keys'], document['findings']], [true, 1, []]);
  });

  it('exits with 1 and one line per finding when it does not', async () => {
    await owner('UPDATE api_keys SET spent_micro_pkr = 2500000');
    await owner('UPDATE balances SET held_micro_pkr = 1');
    const { code, stdout, stderr } = await doctor();
    assert.equal(code, 1);
    assert.deepEqual(stderr.split('\n'), [
      `gatehouse: the key ${keyId} of the organisation ${organizationId} says it has spent 2.50 PKR, and its settlements come to 0.00 PKR`,
      `gatehouse: the organisation ${organizationId} says it has held 0.000001 PKR, and its holds come to 0.00 PKR`,
      '',
    ]);
    assert.match(stdout, /\nFound 2 things that should not be so\.\n$/);
    const json = await doctor('--json');
    assert.equal(json.code, 1);
    const { healthy, findings } = JSON.parse(json.stdout) as {
      healthy: boolean;
      findings: { check: string; key_id: string | null }[];
    };
    assert.equal(healthy, false);
    assert.deepEqual(
      findings.map(({ check, key_id }) => [check, key_id]),
      [
        ['key_spend', keyId],
        ['organization_holds', null],
      ],
    );
  });
});
