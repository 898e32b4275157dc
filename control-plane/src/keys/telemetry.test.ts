import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { OrganizationId } from '@gatehouse/contract';
import type { TelemetryClient } from '@gatehouse/store';
import { pino } from 'pino';
import { createLastUseReader } from './telemetry.ts';

const organization = (number: number) => `01980000-0000-7000-8000-00000000000${number}` as OrganizationId;
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/** A reader on a store whose answers wait until they are let go, with the queries and the warnings so far. */
function slowStore() {
  const queries: PromiseWithResolvers<void>[] = [];
  const client = {
    query: async ({ abort_signal: signal }: { abort_signal: AbortSignal }) => {
      const query = Promise.withResolvers<void>();
      signal.addEventListener('abort', () => query.reject(signal.reason));
      queries.push(query);
      const number = queries.length;
      await query.promise;
      return { json: async () => [{ key: 'k', micros: String(number * 1_000_000) }], close: () => {} };
    },
  } as unknown as TelemetryClient;
  const warnings: unknown[] = [];
  const log = pino({}, { write: (line) => warnings.push(JSON.parse(line).request_id) });
  return { read: createLastUseReader(client, log), queries, warnings };
}

describe('the last uses of keys', () => {
  it('are one query at a time for each organisation, however many requests wait for it', async () => {
    const { read, queries } = slowStore();
    const waiting = Array.from({ length: 100 }, () => read(organization(1), 'request'));
    const other = read(organization(2), 'other');
    await nextTurn();
    assert.equal(queries.length, 2);
    for (const query of queries) query.resolve();
    for (const uses of await Promise.all(waiting))
      assert.deepEqual([...uses], [['k', '1970-01-01T00:00:01.000000+00:00']]);
    assert.deepEqual([...(await other)], [['k', '1970-01-01T00:00:02.000000+00:00']]);
    const later = read(organization(1), 'later');
    await nextTurn();
    queries[2]?.resolve();
    assert.deepEqual([...(await later)], [['k', '1970-01-01T00:00:03.000000+00:00']]);
  });

  it('are four queries at a time, of all organisations together', async () => {
    const { read, queries } = slowStore();
    const reads = Array.from({ length: 9 }, (_, number) => read(organization(number), 'request'));
    for (const sent of [4, 8, 9]) {
      await nextTurn();
      assert.equal(queries.length, sent);
      for (const query of queries) query.resolve();
    }
    await Promise.all(reads);
  });

  it('are none after 250 ms, with one warning for all requests that waited for the query', async () => {
    const { read, warnings } = slowStore();
    const waiting = ['first', 'second', 'third'].map((requestId) => read(organization(1), requestId));
    for (const uses of await Promise.all(waiting)) assert.equal(uses.size, 0);
    assert.deepEqual(warnings, ['first']);
  });
});
