import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { OrganizationId } from '@gatehouse/contract';
import { type TelemetryClient, TelemetryUnavailableError } from '@gatehouse/store';
import { createLastUseReader } from './telemetry.ts';

const ONE = '01980000-0000-7000-8000-000000000001' as OrganizationId;
const OTHER = '01980000-0000-7000-8000-000000000002' as OrganizationId;

/** A store whose answers wait until they are let go, and that counts the questions. */
function slowStore() {
  const questions: PromiseWithResolvers<void>[] = [];
  const client = {
    query: async () => {
      const question = Promise.withResolvers<void>();
      questions.push(question);
      const number = questions.length;
      await question.promise;
      return { json: async () => [{ key: 'k', micros: String(number * 1_000_000) }], close: () => {} };
    },
  } as unknown as TelemetryClient;
  return { client, questions };
}

describe('the last uses of keys', () => {
  it('are one question to the store at a time for each organisation, however many requests wait', async () => {
    const { client, questions } = slowStore();
    const read = createLastUseReader(client);
    const first = read(ONE);
    const waiting = Array.from({ length: 100 }, () => read(ONE));
    const other = read(OTHER);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(questions.length, 2);
    for (const question of questions) question.resolve();
    assert.deepEqual([...(await first)], [['k', '1970-01-01T00:00:01.000000+00:00']]);
    await other;
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(questions.length, 3);
    questions[2]?.resolve();
    for (const uses of await Promise.all(waiting))
      assert.deepEqual([...uses], [['k', '1970-01-01T00:00:03.000000+00:00']]);
    assert.equal(questions.length, 3);
  });

  it('are given up after 250 ms by those that ask and by those that wait for an earlier question', async () => {
    const { client, questions } = slowStore();
    const read = createLastUseReader(client);
    const asked = [read(ONE), read(ONE), read(ONE)];
    for (const one of asked) await assert.rejects(one, TelemetryUnavailableError);
    for (const question of questions) question.resolve();
  });
});
