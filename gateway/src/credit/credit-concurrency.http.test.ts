import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Database } from '@gatehouse/store';
import { assertError, useBench } from '../testing/bench.ts';
import { completion, json } from '../testing/mock-provider.ts';
import { issueKey, moneyOf, startTestGateway } from '../testing/test-gateway.ts';
import { expireKey, revokeKey } from './admission.fixture.ts';

const bench = await useBench();

describe('credit under concurrency', () => {
  before(async () => {
    bench.provider.script = json(completion('x', { prompt: 1, completion: 1 }));
  });

  for (const [title, money] of [
    ['a key', { creditLimitMicroPkr: 10n * 6_160n + 6_159n }],
    ['an organisation', { depositedMicroPkr: 10n * 6_160n + 6_159n }],
  ] as const) {
    it(`429 credit_held for all but the ten of fifty at once that the credit of ${title} is worth`, async () => {
      const key = await issueKey(bench.database, money);
      // 8 tokens of prompt and 10 of answer: 6,160 micro-PKR. None of them ends before all are judged.
      const { promise: allJudged, resolve } = Promise.withResolvers<void>();
      bench.provider.script = async (response, asked) => {
        await allJudged;
        await json(completion('x', { prompt: 8, completion: 10 }))(response, asked);
      };
      let refused = 0;
      const codes = await Promise.all(
        Array.from({ length: 50 }, async () => {
          const response = await bench.gateway.chat(key.secret, { max_tokens: 10 });
          const { error } = (await response.json()) as { error?: { code: string } };
          if (error) refused += 1;
          if (refused === 40) resolve();
          return error?.code ?? response.status;
        }),
      );
      assert.equal(codes.filter((code) => code === 200).length, 10);
      assert.equal(codes.filter((code) => code === 'credit_held').length, 40);
      const { keyHeld, balanceHeld, holds } = await moneyOf(bench.database, key.id);
      assert.deepEqual(
        { keyHeld, balanceHeld, holds },
        { keyHeld: 61_600n, balanceHeld: 61_600n, holds: 10n },
      );
    });
  }

  for (const [change, code] of [
    [revokeKey, 'invalid_api_key'],
    [expireKey, 'key_expired'],
  ] as const) {
    it(`401 ${code} when that becomes true between reading the key and admitting the request`, async () => {
      const key = await issueKey(bench.database);
      const { database } = bench;
      const changing: Database = {
        ...database,
        async many(query, ...given) {
          if (query.name === 'gateway-admit') await database.run(change, { keyId: key.id });
          return database.many(query, ...given);
        },
      };
      await using gateway = await startTestGateway(changing);
      const asked = bench.provider.asked.length;
      const response = await gateway.chat(key.secret);
      await assertError(response, { status: 401, code, type: 'authentication_error' });
      assert.equal(bench.provider.asked.length, asked);
      assert.deepEqual(
        gateway.journal.records.map(({ status, refusal, isHeld }) => [status, refusal, isHeld]),
        [[401, code, false]],
      );
      assert.equal((await moneyOf(database, key.id)).holds, 0n);
    });
  }
});
