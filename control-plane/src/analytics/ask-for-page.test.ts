import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createFairScheduler } from '@gatehouse/concurrency';
import { ApiError, analyticsUnavailable } from '@gatehouse/contract';
import { pino } from 'pino';
import { openPages } from './ask-for-page.ts';
import type { AnalyticsParts } from './parts.ts';

const HOUR_MS = 3_600_000;

function setUp(pausesMs: readonly number[]) {
  const gone = new AbortController();
  const parts = {
    log: pino({ level: 'silent' }),
    timeoutMs: 60_000,
    questions: createFairScheduler({ permits: 1, permitsPerTenant: 1, queuePerTenant: 1 }),
    pausesMs,
  } as unknown as AnalyticsParts;
  const askForPage = openPages(parts, { organizationId: 'o', requestId: 'r', gone: gone.signal });
  let asked = 0;
  /** Asks for a page that the store refuses so many times first. */
  const page = (failures: number, error: () => Error = analyticsUnavailable) => {
    asked = 0;
    return askForPage(async () => {
      asked += 1;
      if (asked <= failures) throw error();
      return 'page';
    });
  };
  return { gone, page, asked: () => asked };
}

const isRefusal = (error: unknown) => error instanceof ApiError && error.status === 503;

describe('the pages of an answer', { timeout: 60_000 }, () => {
  it('are asked for once until one has come, and then once more after each pause', async () => {
    const { page, asked } = setUp([0, 0]);
    await assert.rejects(page(1), isRefusal);
    assert.equal(asked(), 1);
    await page(0);
    assert.equal(await page(2), 'page');
    assert.equal(asked(), 3);
    await assert.rejects(page(3), isRefusal);
    assert.equal(asked(), 3);
  });

  it('are not asked for again where it was not the store that failed', async () => {
    const { page, asked } = setUp([0]);
    await page(0);
    await assert.rejects(
      page(1, () => new TypeError('a mistake of ours')),
      TypeError,
    );
    assert.equal(asked(), 1);
  });

  it('are not asked for again once the caller has left: at once, also in the middle of a pause', async () => {
    const { gone, page, asked } = setUp([HOUR_MS]);
    await page(0);
    const waiting = assert.rejects(page(1), { name: 'AbortError' });
    // It pauses by then: all that comes before takes no more than promises.
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(asked(), 1);
    gone.abort();
    await waiting;
    assert.equal(asked(), 1);
    await assert.rejects(page(1), isRefusal);
    assert.equal(asked(), 1);
  });
});
