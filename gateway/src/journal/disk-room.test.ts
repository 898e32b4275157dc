import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createTestDatabase } from '@gatehouse/store/testing';
import { DiskRoom } from './disk-room.ts';
import { openJournal } from './open-journal.ts';
import { memoryLog, quick, temporaryDirectory } from './testing/fixtures.ts';
import { waitUntil } from './testing/wait-until.ts';

describe('the room on the disk', () => {
  it('is enough until less is free than must be, and again when there is a tenth more', async () => {
    const { log, lines } = memoryLog();
    let free = 1_000;
    const room = new DiskRoom({ directory: '/', minFreeBytes: 1_000, log, freeBytes: async () => free });
    const seen = [];
    for (free of [1_000, 999, 0, 1_000, 1_099, 1_100, 1_000, 999]) {
      await room.check();
      seen.push(room.isEnough);
    }
    assert.deepEqual(seen, [true, false, false, false, false, true, true, false]);
    assert.deepEqual(
      lines.map(({ event, free_bytes }) => [event, free_bytes]),
      [
        ['journal.disk_low', 999],
        ['journal.disk_ok', 1_100],
        ['journal.disk_low', 999],
      ],
    );
  });

  it('is asked of the file system while the journal is open, before it opens first', async () => {
    await using directory = await temporaryDirectory();
    await using test = await createTestDatabase();
    const { log } = memoryLog();
    const parts = {
      ...quick,
      directory: directory.path,
      database: test.database,
      log,
      shipTelemetry: async () => {},
    };
    for (const [minFreeBytes, hasRoom] of [
      [0, true],
      [1, true],
      [2 ** 60, false],
    ] as const) {
      await using journal = await openJournal({ ...parts, minFreeBytes });
      assert.equal(journal.hasRoom, hasRoom);
    }
    let free = 0;
    await using journal = await openJournal({
      ...parts,
      minFreeBytes: 10,
      freeBytes: async () => free,
      diskIntervalMs: 1,
    });
    assert.equal(journal.hasRoom, false);
    free = 11;
    await waitUntil('room on the disk', () => journal.hasRoom);
  });
});
