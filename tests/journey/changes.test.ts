import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { openEmbeddedPostgres } from '@gatehouse/embedded';
import { openDatabase } from '@gatehouse/store';
import { checkOneToOne, nothingTold, oneRound } from '../drills/changes-load.ts';

// The drill `kills` does this with single processes, and with the gateway under load.
describe('changes and their entries in the activity log', () => {
  let directory: string;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gatehouse-changes-'));
  });
  after(() => rm(directory, { recursive: true, force: true }));

  it('match one to one after the service was killed under load, with and without its database', async () => {
    const dataDir = join(directory, 'data');
    const told = nothingTold();
    for (const withDatabase of [false, true, false]) {
      await oneRound(dataDir, told, withDatabase);
      const { changes, entries } = await checkOneToOne(dataDir, told);
      assert.equal(changes, entries);
      assert.ok(changes > 0n);
    }

    // The comparison would have found a mismatch.
    {
      await using server = await openEmbeddedPostgres({ dataDir });
      await using database = openDatabase(server.connection, { poolSize: 1 });
      const tamperer = await database.connect();
      await tamperer.query(`SET session_replication_role = 'replica'`);
      await tamperer.query(
        `DELETE FROM activity_events WHERE (organization_id, sequence) =
           (SELECT organization_id, sequence FROM activity_events WHERE action = 'member.joined' LIMIT 1)`,
      );
      await tamperer.end();
    }
    await assert.rejects(
      checkOneToOne(dataDir, told),
      /^AssertionError.*member\.joined .*: 1 changes and 0 entries/,
    );
  });
});
