import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createTestTelemetry } from '@gatehouse/store/testing';
import { NOW, SECOND } from '../testing/analytics-api.ts';
import { exportedNdjson } from '../testing/request-log-export.ts';
import { addRequests, requestRow } from '../testing/requests.ts';
import { startTestApi } from '../testing/test-api.ts';
import { watchedTelemetry } from '../testing/watched-telemetry.ts';

const ROWS = 60;
const PAGE_BYTES = 20_000;

describe('an export of large rows', () => {
  it('200 with all of them, in pages of few rows', async () => {
    await using store = await createTestTelemetry();
    let queries = 0;
    const telemetry = watchedTelemetry(store.client, () => {
      queries += 1;
      return store.client;
    });
    const pages = { points: 1_000, buckets: 1_000, rows: 50, bytes: PAGE_BYTES };
    await using api = await startTestApi({}, { telemetry, nowMicros: () => NOW, pages });
    const account = await api.signUp();
    const { organizationId } = account;
    // From nothing to more than a page, several at one instant.
    const rows = Array.from({ length: ROWS }, (_, index) =>
      requestRow({
        organizationId,
        startedAtMicros: NOW - BigInt(index >> 2) * SECOND,
        requestId: `r${String(ROWS - index).padStart(2, '0')}`,
        metadata: new Map(index % 3 === 0 ? [] : [['note', 'x'.repeat((index * 617) % 30_000)]]),
      }),
    );
    await addRequests(store, rows);

    const entries = await exportedNdjson(account);
    assert.deepEqual(
      entries.map(({ req_id, metadata }) => [req_id, metadata]),
      rows.map(({ requestId, metadata }) => [requestId, Object.fromEntries(metadata)]),
    );
    const bytes = rows.reduce((sum, { metadata }) => sum + (metadata.get('note')?.length ?? 0), 0);
    assert.ok(queries > bytes / PAGE_BYTES / 3, `${queries} queries for ${bytes} bytes`);
    assert.ok(queries < ROWS, `${queries} queries`);
  });
});
