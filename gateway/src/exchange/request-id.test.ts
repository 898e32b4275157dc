import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newRequestId } from './request-id.ts';

describe('request ids', () => {
  it('are UUIDv7: the time in milliseconds, the version, the variant', () => {
    const atMs = Date.UTC(2026, 10, 20, 10, 15, 30, 123);
    const id = newRequestId(atMs + 0.9);
    assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    assert.equal(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16), atMs);
  });

  it('sort by time, and are never the same', () => {
    const ids = Array.from({ length: 1_000 }, (_, n) => newRequestId(1_795_000_000_000 + n));
    assert.deepEqual(ids.toSorted(), ids);
    assert.equal(new Set(Array.from({ length: 1_000 }, () => newRequestId(0))).size, 1_000);
  });
});
