import assert from 'node:assert/strict';
import { randomInt, randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { type OrganizationId, timestampWithOffset, type UserId } from '@gatehouse/contract';
import type { Database } from '@gatehouse/store';
import { createTestDatabase, rawSql, runSql, type TestDatabase } from '@gatehouse/store/testing';
import { readAnchors } from './anchors.ts';
import { recordsFrom } from './record.ts';
import { type Verification, type VerifyOptions, verifyActivity } from './verify-activity.ts';

describe('verifyActivity', () => {
  let test: TestDatabase;
  /** A connection of the database owner with triggers disabled. */
  let tamperer: Awaited<ReturnType<Database['connect']>>;
  before(async () => {
    test = await createTestDatabase();
    tamperer = await test.owner.connect();
    await tamperer.query(`SET session_replication_role = 'replica'`);
  });
  after(async () => {
    await tamperer.end();
    await test[Symbol.asyncDispose]();
  });

  const newLog = async (entries: number): Promise<OrganizationId> => {
    const name = randomUUID();
    const [row] = await runSql<{ id: OrganizationId }>(test.database)`
      INSERT INTO organizations (name, name_key) VALUES (${name}, ${name}) RETURNING id`;
    const organizationId = row?.id ?? assert.fail();
    await append(organizationId, entries);
    return organizationId;
  };
  const append = (organizationId: OrganizationId, entries: number) =>
    runSql(test.database)`
      SELECT append_activity(${organizationId}, CASE WHEN n % 3 > 0 THEN gen_random_uuid() END, 'org.renamed', 'Name ' || n, '192.0.2.' || n)
      FROM generate_series(1, ${entries}::integer) AS n`;
  const verify = async (
    organizationId: OrganizationId,
    options: VerifyOptions = {},
  ): Promise<Verification> => {
    const found = await Array.fromAsync(verifyActivity(test.owner, { organizationId, ...options }));
    return found.length === 1 && found[0] ? found[0] : assert.fail(`${found.length} logs`);
  };
  const tamper = (text: string, values: unknown[]) => tamperer.query(text, values);
  const anchorsOf = (log: Verification, changes: Record<string, unknown> = {}) =>
    readAnchors(
      JSON.stringify({
        organizations: [
          {
            id: log.organizationId,
            verified: true,
            last_sequence: Number(log.lastSequence),
            last_hash: log.lastHash,
            last_occurred_at: timestampWithOffset(log.lastOccurredAtMicros),
            retention_days: log.retentionDays,
            ...changes,
          },
        ],
      }),
    );

  it('finds nothing wrong with recorded entries of any text and any actor', async () => {
    const organizationId = await newLog(1);
    for (const target of ['', 'é', 'e\u0301', '😀', '\u202e', '"\\\n\t', 'x'.repeat(4_096)]) {
      for (const actorUserId of [null, randomUUID() as UserId]) {
        await test.database.transaction((tx) =>
          recordsFrom('2001:db8::1')({ organizationId, actorUserId })(tx, 'org.renamed', target),
        );
      }
    }
    const { broken, entries, lastSequence, checkpointSequence } = await verify(organizationId);
    assert.deepEqual(
      { broken, entries, lastSequence, checkpointSequence },
      { broken: null, entries: 15, lastSequence: 15n, checkpointSequence: 0n },
    );
  });

  it('finds nothing wrong while others write, page after page', async () => {
    const organizationId = await newLog(2_500);
    let isWriting = true;
    const writing = (async () => {
      while (isWriting) await append(organizationId, 10);
    })();
    for (let round = 0; round < 5; round += 1) assert.equal((await verify(organizationId)).broken, null);
    isWriting = false;
    await writing;
  });

  it('holds when the account of an actor is deleted', async () => {
    const organizationId = await newLog(1);
    const [user] = await runSql<{ id: UserId }>(test.owner)`
      INSERT INTO users (organization_id, email, role) VALUES (${organizationId}, ${`${randomUUID()}@example.com`}, 'owner') RETURNING id`;
    await test.database.transaction((tx) =>
      recordsFrom('::1')({ organizationId, actorUserId: user?.id ?? null })(tx, 'user.login', 'x'),
    );
    await runSql(test.owner)`DELETE FROM users WHERE id = ${user?.id ?? assert.fail()}`;
    assert.equal((await verify(organizationId)).broken, null);
  });

  // Edits of one entry. Each must be reported at that entry.
  const edits: Readonly<Record<string, string>> = {
    'another target': `UPDATE activity_events SET target = target || ' ' WHERE organization_id = $1 AND sequence = $2`,
    'one letter of the target': `UPDATE activity_events SET target = overlay(target placing 'n' from 1) WHERE organization_id = $1 AND sequence = $2`,
    'no target': `UPDATE activity_events SET target = '' WHERE organization_id = $1 AND sequence = $2`,
    'another action': `UPDATE activity_events SET action = 'user.login' WHERE organization_id = $1 AND sequence = $2`,
    'another address': `UPDATE activity_events SET source_ip = '192.0.2.0' WHERE organization_id = $1 AND sequence = $2`,
    'letters moved from one field to the next': `UPDATE activity_events SET action = action || left(target, 1), target = substr(target, 2) WHERE organization_id = $1 AND sequence = $2`,
    'another actor': `UPDATE activity_events SET actor_user_id = gen_random_uuid() WHERE organization_id = $1 AND sequence = $2`,
    'an actor more or less': `UPDATE activity_events SET actor_user_id = CASE WHEN actor_user_id IS NULL THEN gen_random_uuid() END WHERE organization_id = $1 AND sequence = $2`,
    'a microsecond later': `UPDATE activity_events SET occurred_at = occurred_at + interval '1 microsecond' WHERE organization_id = $1 AND sequence = $2`,
    'a year earlier': `UPDATE activity_events SET occurred_at = occurred_at - interval '1 year' WHERE organization_id = $1 AND sequence = $2`,
    'at no time': `UPDATE activity_events SET occurred_at = 'infinity' WHERE organization_id = $1 AND sequence = $2`,
    'before all time': `UPDATE activity_events SET occurred_at = '-infinity' WHERE organization_id = $1 AND sequence = $2`,
    'at the end of time': `UPDATE activity_events SET occurred_at = '294276-12-31' WHERE organization_id = $1 AND sequence = $2`,
    'one bit of the hash': `UPDATE activity_events SET hash = set_bit(hash, 0, 1 - get_bit(hash, 0)) WHERE organization_id = $1 AND sequence = $2`,
    'an empty hash': `UPDATE activity_events SET hash = '' WHERE organization_id = $1 AND sequence = $2`,
    removed: 'DELETE FROM activity_events WHERE organization_id = $1 AND sequence = $2',
    'moved behind the last':
      'UPDATE activity_events SET sequence = 1000 WHERE organization_id = $1 AND sequence = $2',
    'moved to another organisation': `UPDATE activity_events SET organization_id = gen_random_uuid() WHERE organization_id = $1 AND sequence = $2`,
  };

  for (const [what, statement] of Object.entries(edits)) {
    it(`names the entry: ${what}; the first, one in the middle, the last`, async () => {
      for (const sequence of [1, 7, 12]) {
        const organizationId = await newLog(12);
        assert.equal((await tamper(statement, [organizationId, sequence])).rowCount, 1);
        const { broken } = await verify(organizationId);
        assert.equal(broken?.sequence, BigInt(sequence), JSON.stringify({ what, sequence }, undefined, 1));
        assert.match(broken?.reason ?? '', /^(is|or|should) /);
      }
    });
  }

  it('names the first entry of each of 300 random swaps of two entries', async () => {
    const length = 40;
    const organizationId = await newLog(length);
    // Swapping the same two entries again restores the log.
    for (let round = 0; round < 300; round += 1) {
      const first = randomInt(1, length + 1);
      const second = ((first + randomInt(1, length) - 1) % length) + 1;
      const columns = `actor_user_id, action, target, source_ip, occurred_at${round % 2 === 0 ? '' : ', hash'}`;
      const swap = () =>
        tamper(
          `UPDATE activity_events e SET (${columns}) = (
             SELECT ${columns.replaceAll(/(\w+)/g, 'o.$1')} FROM activity_events o
             WHERE o.organization_id = $1 AND o.sequence = $2 + $3 - e.sequence)
           WHERE e.organization_id = $1 AND e.sequence IN ($2, $3)`,
          [organizationId, first, second],
        );
      await swap();
      const { broken } = await verify(organizationId);
      assert.equal(broken?.sequence, BigInt(Math.min(first, second)), `round ${round}`);
      await swap();
    }
    assert.equal((await verify(organizationId)).broken, null);
  });

  describe('by an attacker who recomputes the hashes', () => {
    /** Changes an entry and recomputes the hashes from it through the given entry. */
    const forge = async (organizationId: OrganizationId, sequence: number, through: number) => {
      await tamper(
        `UPDATE activity_events SET target = 'forged' WHERE organization_id = $1 AND sequence = $2`,
        [organizationId, sequence],
      );
      for (let n = sequence; n <= through; n += 1) {
        await tamper(
          `UPDATE activity_events e
           SET hash = activity_entry_hash(
             coalesce((SELECT hash FROM activity_events p WHERE p.organization_id = $1 AND p.sequence = $2 - 1),
                      decode(repeat('00', 32), 'hex')),
             organization_id, sequence, actor_user_id, action, target, source_ip, occurred_at)
           WHERE organization_id = $1 AND sequence = $2`,
          [organizationId, n],
        );
      }
    };
    const moveHead = (organizationId: OrganizationId, lastSequence: number) =>
      tamper(
        `UPDATE activity_heads SET last_sequence = $2, last_hash =
           (SELECT hash FROM activity_events WHERE organization_id = $1 AND sequence = $2)
         WHERE organization_id = $1`,
        [organizationId, lastSequence],
      );

    it('names the first entry whose hash is the old one, or the last if none is', async () => {
      const organizationId = await newLog(10);
      await forge(organizationId, 4, 6);
      assert.equal((await verify(organizationId)).broken?.sequence, 7n);
      await forge(organizationId, 4, 10);
      assert.equal((await verify(organizationId)).broken?.sequence, 10n);
    });

    it('finds nothing without an anchor, and with one of any later entry its number', async () => {
      const organizationId = await newLog(10);
      const anchors = anchorsOf(await verify(organizationId));
      await append(organizationId, 5);
      const later = anchorsOf(await verify(organizationId));
      assert.equal((await verify(organizationId, { anchors: [...anchors, ...later] })).broken, null);
      await forge(organizationId, 3, 15);
      await moveHead(organizationId, 15);
      assert.equal((await verify(organizationId)).broken, null);
      assert.equal((await verify(organizationId, { anchors: later })).broken?.sequence, 15n);
      const { broken } = await verify(organizationId, { anchors: [...later, ...anchors] });
      assert.deepEqual([broken?.sequence, /anchor/.test(broken?.reason ?? '')], [10n, true]);
    });

    it('reports, with an anchor, an end that was cut off together with the head', async () => {
      const organizationId = await newLog(10);
      const anchors = anchorsOf(await verify(organizationId));
      await tamper('DELETE FROM activity_events WHERE organization_id = $1 AND sequence > 6', [
        organizationId,
      ]);
      assert.equal((await verify(organizationId)).broken?.sequence, 7n);
      await moveHead(organizationId, 6);
      assert.equal((await verify(organizationId)).broken, null);
      assert.equal((await verify(organizationId, { anchors })).broken?.sequence, 7n);
    });

    it('reports, with an anchor, that the log of an organisation is missing', async () => {
      const organizationId = await newLog(3);
      const anchors = anchorsOf(await verify(organizationId));
      for (const table of ['activity_events', 'activity_heads'])
        await tamper(`DELETE FROM ${table} WHERE organization_id = $1`, [organizationId]);
      assert.equal((await verify(organizationId)).broken?.sequence, 1n);
      await tamper('DELETE FROM organizations WHERE id = $1', [organizationId]);
      assert.equal((await verify(organizationId, { anchors })).broken?.sequence, 1n);
    });
  });

  for (const [what, statement, sequence] of [
    ['that is ahead', 'UPDATE activity_heads SET last_sequence = 9 WHERE organization_id = $1', 6n],
    ['that is behind', 'UPDATE activity_heads SET last_sequence = 3 WHERE organization_id = $1', 4n],
    ['at zero', 'UPDATE activity_heads SET last_sequence = 0 WHERE organization_id = $1', 1n],
    ['with another hash', `UPDATE activity_heads SET last_hash = sha256('x') WHERE organization_id = $1`, 5n],
    ['that is gone', 'DELETE FROM activity_heads WHERE organization_id = $1', 1n],
  ] as const) {
    it(`finds a head ${what}`, async () => {
      const organizationId = await newLog(5);
      await tamper(statement, [organizationId]);
      assert.equal((await verify(organizationId)).broken?.sequence, sequence);
    });
  }

  describe('with a forged checkpoint', () => {
    const fake = (organizationId: OrganizationId, sequence: number, hash = 'hash', age = '2 days') =>
      tamper(
        `INSERT INTO activity_checkpoints (organization_id, through_sequence, hash, through_occurred_at)
         SELECT $1, $2, ${hash}, clock_timestamp() - '${age}'::interval
         FROM activity_events WHERE organization_id = $1 AND sequence = $2`,
        [organizationId, sequence],
      );
    const removeThrough = (organizationId: OrganizationId, sequence: number) =>
      tamper('DELETE FROM activity_events WHERE organization_id = $1 AND sequence <= $2', [
        organizationId,
        sequence,
      ]);

    it('names an entry that the checkpoint should have removed', async () => {
      const organizationId = await newLog(8);
      await fake(organizationId, 4);
      assert.equal((await verify(organizationId)).broken?.sequence, 1n);
    });

    it('names an entry that does not follow it', async () => {
      const organizationId = await newLog(8);
      await fake(organizationId, 4, `sha256('x')`);
      await removeThrough(organizationId, 4);
      assert.equal((await verify(organizationId)).broken?.sequence, 5n);
    });

    it('names it when it removed what no retention could have', async () => {
      const organizationId = await newLog(8);
      await fake(organizationId, 8, 'hash', '23 hours');
      await removeThrough(organizationId, 8);
      assert.equal((await verify(organizationId)).broken?.sequence, 8n);
    });

    it('names, with an anchor, entries that were removed too early', async () => {
      const organizationId = await newLog(10);
      const anchors = anchorsOf(await verify(organizationId));
      await append(organizationId, 5);
      for (const through of [10, 12]) {
        await fake(organizationId, through);
        await removeThrough(organizationId, through);
        assert.equal((await verify(organizationId)).broken, null, 'not without');
        const { broken } = await verify(organizationId, { anchors });
        assert.deepEqual([broken?.sequence, /young/.test(broken?.reason ?? '')], [10n, true]);
      }
    });

    it('finds nothing wrong where an anchor is old enough to have aged out, and says so', async () => {
      const organizationId = await newLog(10);
      const old = { last_occurred_at: '2020-01-01T00:00:00Z' };
      const anchors = anchorsOf(await verify(organizationId), old);
      await append(organizationId, 5);
      await fake(organizationId, 12);
      await removeThrough(organizationId, 12);
      const { broken, agedAnchors } = await verify(organizationId, { anchors });
      assert.deepEqual([broken, agedAnchors], [null, 1]);
    });
  });

  describe('where the constraints of the table are dropped as well', () => {
    let other: TestDatabase;
    before(async () => {
      other = await createTestDatabase();
      const client = await other.owner.connect();
      for (const command of [
        'ALTER TABLE activity_events DROP CONSTRAINT activity_events_pkey CASCADE',
        ...['sequence', 'action', 'target', 'source_ip', 'occurred_at', 'hash'].map(
          (column) => `ALTER TABLE activity_events ALTER COLUMN ${column} DROP NOT NULL`,
        ),
        'ALTER TABLE activity_events DISABLE TRIGGER USER',
      ])
        await client.query(command);
      await client.end();
    });
    after(() => other[Symbol.asyncDispose]());

    const logOf = async (entries: number) => {
      const name = randomUUID();
      const [row] = await runSql<{ id: OrganizationId }>(other.database)`
        INSERT INTO organizations (name, name_key) VALUES (${name}, ${name}) RETURNING id`;
      const id = row?.id ?? assert.fail();
      await runSql(other.database)`
        SELECT append_activity(${id}, NULL, 'org.renamed', 'Name ' || n, '::1') FROM generate_series(1, ${entries}::integer) AS n`;
      return id;
    };
    const brokenAt = async (organizationId: OrganizationId) => {
      const found = await Array.fromAsync(verifyActivity(other.owner, { organizationId }));
      return found[0]?.broken?.sequence;
    };

    for (const column of ['action', 'target', 'source_ip', 'occurred_at', 'hash']) {
      it(`names an entry without ${column}, and goes on to the next log`, async () => {
        const organizationId = await logOf(5);
        await runSql(other.owner)`
          UPDATE activity_events SET ${rawSql(column)} = NULL WHERE organization_id = ${organizationId} AND sequence = 3`;
        assert.equal(await brokenAt(organizationId), 3n);
      });
    }

    it('names a missing entry whose number was removed', async () => {
      const organizationId = await logOf(5);
      await runSql(other.owner)`
        UPDATE activity_events SET sequence = NULL WHERE organization_id = ${organizationId} AND sequence = 3`;
      assert.equal(await brokenAt(organizationId), 3n);
      await runSql(other.owner)`
        INSERT INTO activity_events SELECT organization_id, 3, actor_user_id, action, target, source_ip, occurred_at, hash
        FROM activity_events WHERE organization_id = ${organizationId} AND sequence IS NULL`;
      assert.equal(await brokenAt(organizationId), 5n, 'one without a number is left over');
    });

    it('finds a second entry with the same number, also at the border of two pages', async () => {
      for (const sequence of [1, 999, 1_000, 1_001, 1_200]) {
        const organizationId = await logOf(1_200);
        await runSql(other.owner)`
          INSERT INTO activity_events
          SELECT organization_id, sequence, actor_user_id, action, 'FORGED', source_ip, occurred_at, hash
          FROM activity_events WHERE organization_id = ${organizationId} AND sequence = ${sequence}`;
        assert.equal(await brokenAt(organizationId), BigInt(sequence));
      }
    });

    it('names an entry that is longer than the limit', async () => {
      const organizationId = await logOf(3);
      await runSql(other.owner)`
        UPDATE activity_events SET target = repeat('x', 50000000) WHERE organization_id = ${organizationId} AND sequence = 2`;
      assert.equal(await brokenAt(organizationId), 2n);
      await assert.rejects(
        runSql(other.database)`
          SELECT append_activity(${organizationId}, NULL, 'org.renamed', repeat('x', 5000), '::1')`,
        /too long/,
      );
    });
  });

  it('names the entries of a deleted organisation, with its head and without', async () => {
    for (const tables of [['organizations'], ['organizations', 'activity_heads']]) {
      const organizationId = await newLog(3);
      for (const table of tables)
        await tamper(
          `DELETE FROM ${table} WHERE ${table === 'organizations' ? 'id' : 'organization_id'} = $1`,
          [organizationId],
        );
      const { broken, organizationName, entries } = await verify(organizationId);
      assert.deepEqual([broken?.sequence, organizationName, entries], [1n, null, 3]);
    }
  });

  it('verifies every organisation, broken and intact', async () => {
    const [whole, broken] = [await newLog(3), await newLog(3)];
    await tamper('DELETE FROM activity_events WHERE organization_id = $1 AND sequence = 2', [broken]);
    const all = await Array.fromAsync(verifyActivity(test.owner));
    const found = (id: string) => all.find(({ organizationId }) => organizationId === id)?.broken?.sequence;
    assert.deepEqual([found(whole), found(broken)], [undefined, 2n]);
    assert.equal(new Set(all.map(({ organizationId }) => organizationId)).size, all.length);
  });
});
