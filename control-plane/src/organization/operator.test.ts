import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import type { OrganizationId } from '@gatehouse/contract';
import { createTestDatabase, runSql } from '@gatehouse/store/testing';
import { recordsFrom } from '../activity/index.ts';
import { duringTests } from '../testing/during-tests.ts';
import { createOrganization, deposit } from './create-organization.ts';
import { createProject } from './create-project.ts';
import { findOrganization } from './find-organization.ts';
import { listOrganizations } from './list-organizations.ts';
import { organizationName } from './rules.ts';
import { setRetention } from './set-retention.ts';
import { showOrganization } from './show-organization.ts';

describe("the operator's view of organisations", () => {
  const test = duringTests(createTestDatabase);

  const create = async (given: string) => {
    const name = organizationName(given);
    assert.ok(!('issue' in name));
    const id = await test.owner.transaction((tx) => createOrganization(tx, name));
    return id ?? assert.fail(`${given} is taken`);
  };

  const addProject = async (organizationId: OrganizationId, name: string) => {
    const made = await test.owner.transaction((tx) => createProject(tx, organizationId, name));
    return 'created' in made ? made.created : assert.fail(`there is a project ${name}`);
  };

  describe('findOrganization', () => {
    it('finds it by its id, and by its name in any spelling', async () => {
      const id = await create('Straße & Söhne');
      for (const reference of [
        id,
        id.toUpperCase(),
        'Straße & Söhne',
        ' STRASSE & SÖHNE\n',
        'Ｓtrasse & So\u0308hne',
      ])
        assert.deepEqual(await findOrganization(test.owner, reference), { id, name: 'Straße & Söhne' });
    });

    it('reads a uuid as an id first, and as a name when the id is unknown', async () => {
      const first = await create('First');
      const namesake = await create(first);
      assert.deepEqual(await findOrganization(test.owner, first), { id: first, name: 'First' });
      const unusedId = randomUUID();
      const other = await create(unusedId);
      assert.deepEqual(await findOrganization(test.owner, unusedId), { id: other, name: unusedId });
      assert.deepEqual(await findOrganization(test.owner, namesake), { id: namesake, name: first });
    });

    it('finds nothing for an unknown or impossible name', async () => {
      for (const reference of [
        '',
        ' ',
        'Nobody',
        randomUUID(),
        '%',
        "' OR true --",
        'a\u0000',
        '\ud800',
        '<b>',
        'x'.repeat(100_000),
      ])
        assert.equal(await findOrganization(test.owner, reference), undefined);
    });
  });

  it('lists every organisation, oldest first, with its members and its money', async () => {
    const id = await create('Listed');
    await test.owner.transaction((tx) =>
      deposit(tx, { organizationId: id, amountMicroPkr: 5_000_000n, note: null }, recordsFrom('::1')),
    );
    await runSql(test.owner)`
      UPDATE balances SET spent_micro_pkr = 2, held_micro_pkr = 3 WHERE organization_id = ${id}`;
    await runSql(test.owner)`
      INSERT INTO users (organization_id, email, role, is_active)
      VALUES (${id}, 'one@listed.example', 'owner', true), (${id}, 'two@listed.example', 'member', false)`;
    await create('Newer');
    const listed = (await listOrganizations(test.owner)).slice(-2);
    assert.deepEqual(
      listed.map(({ createdAt, ...rest }) => ({ ...rest, hasTime: /^\d{4}-.*\+00:00$/.test(createdAt) })),
      [
        {
          id,
          name: 'Listed',
          members: 2,
          depositedMicroPkr: 5_000_000n,
          spentMicroPkr: 2n,
          heldMicroPkr: 3n,
          hasTime: true,
        },
        {
          id: listed[1]?.id,
          name: 'Newer',
          members: 0,
          depositedMicroPkr: 0n,
          spentMicroPkr: 0n,
          heldMicroPkr: 0n,
          hasTime: true,
        },
      ],
    );
  });

  it('shows the projects, the newest deposits and the number of keys of one', async () => {
    const id = await create('Shown');
    const project = await addProject(id, 'Mobile');
    await runSql(test.owner)`
      INSERT INTO api_keys (organization_id, project_id, name, key_prefix, secret_hash, rate_limit_rpm, environment, revoked_at)
      VALUES (${id}, ${project.id}, 'live', 'p', 'a', 1, 'testing', NULL), (${id}, ${project.id}, 'revoked', 'p', 'b', 1, 'testing', clock_timestamp())`;
    for (let n = 1n; n <= 22n; n += 1n) {
      await test.owner.transaction((tx) =>
        deposit(tx, { organizationId: id, amountMicroPkr: n, note: `no ${n}` }, recordsFrom('::1')),
      );
    }
    const shown = (await showOrganization(test.owner, id)) ?? assert.fail();
    assert.equal(shown.keys, 1);
    assert.equal(shown.retentionDays, null);
    assert.deepEqual(
      shown.projects.map(({ name }) => name),
      ['Default', 'Mobile'],
    );
    assert.deepEqual(shown.projects[1], project);
    assert.equal(shown.depositCount, 22);
    assert.equal(shown.deposits.length, 20);
    assert.equal(shown.deposits[0]?.amountMicroPkr, 22n);
    assert.equal(shown.deposits.at(-1)?.note, 'no 3');
    assert.equal(shown.depositedMicroPkr, 253n);
    assert.equal(await showOrganization(test.owner, randomUUID() as OrganizationId), undefined);
  });

  describe('createProject', () => {
    it('adds it, and finds it by its name in any spelling instead of adding another', async () => {
      const id = await create('With projects');
      const mobile = await addProject(id, 'Straße 2');
      for (const name of ['Straße 2', 'STRASSE 2', 'Ｓtraße ２', 'Stra\u00adße 2']) {
        assert.deepEqual(await test.owner.transaction((tx) => createProject(tx, id, name)), {
          existing: mobile,
        });
      }
      const first = await test.owner.transaction((tx) => createProject(tx, id, 'default'));
      assert.equal('existing' in first && first.existing.name, 'Default');
      await addProject(id, 'Straße 3');
      assert.equal((await addProject(await create('Another with projects'), 'Straße 2')).name, 'Straße 2');
    });

    it('makes one of many that come at once', async () => {
      const id = await create('Crowded');
      const made = await Promise.all(
        Array.from({ length: 10 }, () => test.owner.transaction((tx) => createProject(tx, id, 'Mobile'))),
      );
      assert.equal(made.filter((one) => 'created' in one).length, 1);
    });

    it('leaves those of one name that an older database has', async () => {
      const id = await create('Older');
      for (let n = 0; n < 2; n += 1)
        await runSql(test.owner)`INSERT INTO projects (organization_id, name) VALUES (${id}, 'Twin')`;
      assert.ok('existing' in (await test.owner.transaction((tx) => createProject(tx, id, 'twin'))));
      assert.equal((await showOrganization(test.owner, id))?.projects.length, 3);
    });
  });

  describe('setRetention', () => {
    it('sets the days, and goes back to those for all', async () => {
      const id = await create('Kept');
      const kept = async () => (await showOrganization(test.owner, id))?.retentionDays;
      for (const days of [1, 36_500, null]) {
        assert.equal(await setRetention(test.owner, id, days), true);
        assert.equal(await kept(), days);
      }
      assert.equal(await setRetention(test.owner, randomUUID() as OrganizationId, 5), false);
    });

    it("is not for the service's login", async () => {
      const id = await create('Guarded');
      await assert.rejects(setRetention(test.database, id, 1), { code: '42501' });
    });
  });
});
