import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createFairScheduler } from '@gatehouse/concurrency';
import type { OrganizationId } from '@gatehouse/contract';
import type { AnalyticsDependencies } from './dependencies.ts';
import { exportRequests } from './export-requests.ts';
import type { QuerySession } from './query-session.ts';
import type { Scope } from './telemetry.ts';

setFlagsFromString('--expose_gc');
const collectGarbage = runInNewContext('gc') as () => void;

const ROWS = 100;

describe('an export that waits for its reader', () => {
  for (const [title, isComplete] of [
    ['of one page', true],
    ['of several', false],
  ] as const) {
    it(`keeps the page, and not what it was made of: ${title}`, async () => {
      const read: WeakRef<Buffer>[] = [];
      const session = {
        permit: async () => ({ [Symbol.dispose]() {}, dispose() {} }),
        gone: new AbortController().signal,
        nextPage() {},
        async lines() {
          const row = { timestamp_micros: '1', cost_micro_pkr: '1', key_id: null, project_id: null };
          const lines = Buffer.from(`${JSON.stringify(row)}\n`.repeat(ROWS));
          read.push(new WeakRef(lines));
          return { lines, isComplete };
        },
      } as unknown as QuerySession;
      const dependencies = {
        pages: { rows: ROWS + 1, bytes: 1_000_000 },
        exports: createFairScheduler({ permits: 1, permitsPerTenant: 1, queuePerTenant: 1 }),
      } as unknown as AnalyticsDependencies;
      const { pieces } = await exportRequests(dependencies, session, {
        type: 'application/x-ndjson',
        name: 'all',
        scope: { organizationId: 'o' as OrganizationId } as Scope,
        filter: {} as never,
      });
      const reading = pieces[Symbol.asyncIterator]();
      let piece: Uint8Array = Buffer.alloc(0);
      while (piece.length === 0) piece = (await reading.next()).value;
      await new Promise((resolve) => setImmediate(resolve));
      collectGarbage();
      assert.deepEqual(
        read.map((lines) => lines.deref()),
        [undefined],
      );
      await reading.return?.();
    });
  }
});
