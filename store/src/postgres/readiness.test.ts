import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Database, DatabaseUsage } from './database.ts';
import { DatabaseUnavailable } from './errors.ts';
import { AWAY_MS, createReadiness } from './readiness.ts';

const MISSING = ['PostgreSQL cannot be used'];

/** A database that a test takes away, and the clock of its probes. */
function createOutage() {
  let nowMs = 0;
  let answered = 0;
  let isAway = false;
  let isSilent = false;
  let unavailableSinceMs: number | undefined;
  const database: Pick<Database, 'run' | 'usage'> = {
    async run() {
      if (isSilent) return new Promise<number>(() => undefined);
      if (isAway) throw new DatabaseUnavailable('gone');
      answered += 1;
      return 0;
    },
    usage: () => ({ answered, unavailableSinceMs }) as DatabaseUsage,
  };
  const whatIsMissing = createReadiness(database, () => nowMs);
  return {
    async probeAfter(ms: number) {
      nowMs += ms;
      return await whatIsMissing();
    },
    set isAway(value: boolean) {
      isAway = value;
    },
    set isSilent(value: boolean) {
      isSilent = value;
    },
    /** Statements of requests fail, and have failed for so long. */
    failOthersFor(ms: number) {
      unavailableSinceMs = performance.now() - ms;
    },
    answerOthers() {
      answered += 1;
    },
  };
}

describe('readiness', () => {
  it('outlasts a database that is away for less than the limit', async () => {
    const outage = createOutage();
    assert.deepEqual(await outage.probeAfter(0), []);
    outage.isAway = true;
    assert.deepEqual(await outage.probeAfter(1_000), []);
    assert.deepEqual(await outage.probeAfter(AWAY_MS - 500), []);
    outage.isAway = false;
    assert.deepEqual(await outage.probeAfter(500), []);
    outage.isAway = true;
    assert.deepEqual(await outage.probeAfter(500), [], 'another outage has its own time');
  });

  it('ends with one that is away for longer, and returns with the first answer', async () => {
    const outage = createOutage();
    await outage.probeAfter(0);
    outage.isAway = true;
    await outage.probeAfter(1_000);
    assert.deepEqual(await outage.probeAfter(AWAY_MS), MISSING);
    assert.deepEqual(await outage.probeAfter(AWAY_MS), MISSING);
    outage.isAway = false;
    assert.deepEqual(await outage.probeAfter(499), MISSING, 'probes share an answer for half a second');
    assert.deepEqual(await outage.probeAfter(1), []);
  });

  it('counts from the first statement that failed, though nobody probed since', async () => {
    const outage = createOutage();
    await outage.probeAfter(0);
    outage.isAway = true;
    outage.failOthersFor(AWAY_MS - 1_000);
    assert.deepEqual(await outage.probeAfter(60_000), []);
    assert.deepEqual(await outage.probeAfter(1_000), MISSING);
  });

  it('does not take answers from before the outage for its end, where it is the first probe', async () => {
    const outage = createOutage();
    outage.answerOthers();
    outage.isAway = true;
    outage.failOthersFor(AWAY_MS + 1_000);
    assert.deepEqual(await outage.probeAfter(0), MISSING);
  });

  it('does not begin before the database has answered once', async () => {
    const outage = createOutage();
    outage.isAway = true;
    assert.deepEqual(await outage.probeAfter(0), MISSING);
  });

  it('lasts while other statements are answered, though the probes are not', async () => {
    const outage = createOutage();
    await outage.probeAfter(0);
    outage.isAway = true;
    for (let n = 0; n < 5; n += 1) {
      outage.answerOthers();
      assert.deepEqual(await outage.probeAfter(AWAY_MS), []);
    }
  });

  it('counts a database that says nothing as away, and answers the probe all the same', async () => {
    const outage = createOutage();
    await outage.probeAfter(0);
    outage.isSilent = true;
    assert.deepEqual(await outage.probeAfter(1_000), []);
    assert.deepEqual(await outage.probeAfter(AWAY_MS), MISSING);
  });
});
