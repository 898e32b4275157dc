import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runFallbacks } from './fallback-requests.ts';

// The short form of the drill fallbacks.ts.

describe('requests to three targets that fail at random', () => {
  it('are served where they can be, and each is paid exactly once', async () => {
    const { requests, served, rescued, cut, failed, attempts } = await runFallbacks(400, 1);
    assert.equal(served + cut + failed, requests);
    assert.ok(rescued > 50 && cut > 0 && failed > 0, JSON.stringify({ rescued, cut, failed, attempts }));
  });
});
