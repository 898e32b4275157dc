import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Database, DatabaseUnavailable } from '@gatehouse/store';
import { startBench } from '../testing/bench.ts';
import { issueKey, moneyOf, startTestGateway } from '../testing/test-gateway.ts';

describe('an answer whose surplus cannot be released', () => {
  const isRelease = ([parameters]: readonly unknown[]) =>
    (parameters as { requestIds: unknown[] }).requestIds.length === 0;
  const scripted = (database: Database, release: () => Promise<never>): Database => ({
    ...database,
    many: (query, ...given) =>
      query.name === 'gateway-admit' && isRelease(given) ? release() : database.many(query, ...given),
  });

  it('200 at once when PostgreSQL is away, 200 after a second when it says nothing, and a warning in the log when it refuses', async () => {
    await using bench = await startBench();
    const never = Promise.withResolvers<never>();
    const asked = Promise.withResolvers<void>();
    const answerWith = async (release: () => Promise<never>, warnings: number, isSilent = false) => {
      await using gateway = await startTestGateway(scripted(bench.database, release));
      const answer = gateway.chat(bench.key.secret);
      if (isSilent) {
        await asked.promise;
        gateway.time.fire(1_000);
      }
      assert.equal((await answer).status, 200);
      assert.equal(gateway.journal.records.length, 1);
      assert.equal(gateway.logged.filter(({ level }) => level === 40).length, warnings);
    };
    await answerWith(() => Promise.reject(new DatabaseUnavailable('away')), 0);
    await answerWith(() => Promise.reject(new TypeError('no')), 1);
    const silence = () => {
      asked.resolve();
      return never.promise;
    };
    await answerWith(silence, 0, true);
    assert.equal((await moneyOf(bench.database, bench.key.id)).holds, 3n);
    never.reject(new DatabaseUnavailable('away'));
  });

  it('asks nothing of the database for a request that was never admitted', async () => {
    await using bench = await startBench();
    let releases = 0;
    const counting = scripted(bench.database, () => {
      releases += 1;
      return Promise.reject(new TypeError('no'));
    });
    await using gateway = await startTestGateway(counting);
    const poor = await issueKey(bench.database, { depositedMicroPkr: 0n });
    assert.equal((await gateway.chat(poor.secret)).status, 402);
    assert.equal((await gateway.chat(bench.key.secret, { model: 'none' })).status, 404);
    assert.equal((await gateway.chat(bench.key.secret, { messages: 1 })).status, 400);
    assert.equal(releases, 0);
  });
});
