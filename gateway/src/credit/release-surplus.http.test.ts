import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Database, DatabaseUnavailable } from '@gatehouse/store';
import { startBench } from '../testing/bench.ts';
import { completion, json } from '../testing/mock-provider.ts';
import { addRoute, issueKey, moneyOf, startTestGateway } from '../testing/test-gateway.ts';

describe('an answer whose surplus cannot be released', () => {
  const isRelease = ([parameters]: readonly unknown[]) =>
    (parameters as { requestIds: unknown[] }).requestIds.length === 0;
  const scripted = (database: Database, release: () => Promise<never>): Database => ({
    ...database,
    many: (query, ...given) =>
      query.name === 'gateway-admit' && isRelease(given) ? release() : database.many(query, ...given),
  });

  it('200 whether PostgreSQL is away, says nothing or refuses, which is a warning in the log', async () => {
    await using bench = await startBench();
    const never = Promise.withResolvers<never>();
    const answerWith = async (release: () => Promise<never>, warnings: number) => {
      const asked = Promise.withResolvers<void>();
      const noted = () => {
        asked.resolve();
        return release();
      };
      await using gateway = await startTestGateway(scripted(bench.database, noted));
      assert.equal((await gateway.chat(bench.key.secret)).status, 200);
      assert.equal(gateway.journal.records.length, 1);
      await asked.promise;
      if (release !== silence) await gateway.gateway.flush();
      else never.reject(new DatabaseUnavailable('away'));
      assert.equal(gateway.logged.filter(({ level }) => level === 40).length, warnings);
    };
    const silence = () => never.promise;
    await answerWith(() => Promise.reject(new DatabaseUnavailable('away')), 0);
    await answerWith(() => Promise.reject(new TypeError('no')), 1);
    await answerWith(silence, 0);
    assert.equal((await moneyOf(bench.database, bench.key.id)).holds, 3n);
  });

  it('200 for the next request of a key that is limited to little more than one can cost, one after the other', async () => {
    await using bench = await startBench();
    bench.provider.script = json(completion('x', { prompt: 8, completion: 10 }));
    // Each holds 6,160 micro-PKR, and costs that much.
    const key = await issueKey(bench.database, { creditLimitMicroPkr: 9n * 6_160n });
    for (let count = 0; count < 8; count += 1) {
      const response = await bench.gateway.chat(key.secret, { max_tokens: 10 });
      assert.equal(response.status, 200);
      await response.text();
    }
    assert.equal((await moneyOf(bench.database, key.id)).keyHeld, 8n * 6_160n);
  });

  it('200 on another gateway, too, which judges a request again before it says that credit is held', async () => {
    await using bench = await startBench();
    bench.provider.script = json(completion('x', { prompt: 8, completion: 1 }));
    let served = 0;
    let lowered = 0;
    let onLowered = () => {};
    // A decision that credit is held arrives when the holds of all answers are lowered, however busy the machine is.
    const watched: Database = {
      ...bench.database,
      async many(query, ...given) {
        const rows = await bench.database.many(query, ...given);
        if (query.name !== 'gateway-admit') return rows;
        lowered += (given[0] as unknown as { finishedIds: unknown[] }).finishedIds.length;
        onLowered();
        if (!rows.some((row) => (row as { decision: string }).decision === 'credit_held')) return rows;
        while (lowered < served) await new Promise<void>((resolve) => (onLowered = resolve));
        return rows;
      },
    };
    await using one = await startTestGateway(watched);
    await using other = await startTestGateway(watched);
    // Enough for one whole answer and the spend of the others.
    const key = await issueKey(bench.database, { creditLimitMicroPkr: 12_000n });
    for (const gateway of [one, other, one, other]) {
      const response = await gateway.chat(key.secret, { max_tokens: 10 });
      assert.equal(response.status, 200);
      assert.equal(response.headers.get('x-gatehouse-output-limit'), null);
      await response.text();
      served += 1;
    }
  });

  // An answer costs 1,120 micro-PKR. With an output cap of 50 it may cost 28,560, with one of 100 56,560.
  for (const [title, creditLimitMicroPkr, caps] of [
    ['the whole output cap', 80_000n, [null, null, null, null]],
    ['an output cap of all that is unspent', 50_000n, [null, '86', null, '82']],
  ] as const) {
    it(`200 on another gateway with ${title}, while the surplus of the answer before is on its way`, async () => {
      await using bench = await startBench();
      bench.provider.script = json(completion('x', { prompt: 8, completion: 1 }));
      await addRoute(bench.database, {
        id: 'mock/low',
        baseUrl: bench.provider.baseUrl,
        minOutputTokens: 10,
      });
      // The surplus of an answer is released between the first two decisions on the next request, however busy the machine is.
      const judged = new Set<unknown>();
      let lowered = 0;
      let onChange = Promise.withResolvers<void>();
      let isOver = false;
      const until = async (isSo: () => boolean) => {
        while (!isSo() && !isOver) await onChange.promise;
      };
      const change = () => {
        onChange.resolve();
        onChange = Promise.withResolvers();
      };
      const watched: Database = {
        ...bench.database,
        async many(query, ...given) {
          if (query.name !== 'gateway-admit') return bench.database.many(query, ...given);
          const { requestIds } = given[0] as unknown as { requestIds: unknown[] };
          if (isRelease(given)) await until(() => judged.size > lowered + 1);
          const rows = await bench.database.many(query, ...given);
          for (const id of requestIds) judged.add(id);
          if (isRelease(given)) lowered += 1;
          change();
          if (rows.some((row) => (row as { decision: string }).decision === 'credit_held'))
            await until(() => lowered + 1 === judged.size);
          return rows;
        },
      };
      await using one = await startTestGateway(watched);
      await using other = await startTestGateway(watched);
      const key = await issueKey(bench.database, { creditLimitMicroPkr });
      const answers: unknown[] = [];
      for (const [gateway, max_tokens] of [
        [one, 50],
        [other, 100],
        [one, 50],
        [other, 100],
      ] as const) {
        const response = await gateway.chat(key.secret, { model: 'mock/low', max_tokens });
        await response.text();
        answers.push([response.status, response.headers.get('x-gatehouse-output-limit')]);
      }
      isOver = true;
      change();
      assert.deepEqual(
        answers,
        caps.map((cap) => [200, cap]),
      );
    });
  }

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
