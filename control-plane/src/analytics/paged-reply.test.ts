import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createFairScheduler } from '@gatehouse/concurrency';
import { ApiError, type OrganizationId } from '@gatehouse/contract';
import { pino } from 'pino';
import type { AnalyticsDependencies } from './dependencies.ts';
import { type Page, pagedReply } from './paged-reply.ts';
import { openQuerySession } from './query-session.ts';

/** Pages of one letter each. A `!` is a page that fails. */
async function* pagesOf(letters: string, left?: () => void): AsyncGenerator<Page, void> {
  try {
    for (const [index, letter] of [...letters].entries()) {
      if (letter === '!') throw new Error('no page');
      yield { bytes: Buffer.from(letter.trim()), isLast: index === letters.length - 1 };
    }
  } finally {
    left?.();
  }
}

function setUp() {
  const logLines: Record<string, unknown>[] = [];
  const permits = createFairScheduler({ permits: 1, permitsPerTenant: 1, queuePerTenant: 1 });
  const log = pino({}, { write: (line: string) => logLines.push(JSON.parse(line)) });
  const dependencies = {
    log,
    timeoutMs: 60_000,
    retryDelaysMs: [],
    metrics: { analyticsQuery: () => undefined },
  } as unknown as AnalyticsDependencies;
  const openAs = (isLong: boolean, pages: AsyncGenerator<Page, void>, gone: AbortSignal) => {
    const session = openQuerySession(dependencies, {
      organizationId: 'o' as OrganizationId,
      requestId: 'r',
      gone,
    });
    return pagedReply(session, {
      contentType: 'x/y',
      begin: '[',
      between: ',',
      end: ']',
      pages,
      permits,
      isLong,
    });
  };
  const open = (letters: string, gone = new AbortController().signal, left?: () => void) =>
    openAs(false, pagesOf(letters, left), gone);
  const openLong = (letters: string, gone = new AbortController().signal) =>
    openAs(true, pagesOf(letters), gone);
  return { permits, open, openLong, openAs, logLines, dependencies };
}

const read = async (pieces: AsyncIterable<Uint8Array>) =>
  Buffer.concat(await Array.fromAsync(pieces)).toString();

describe('an answer in pages', () => {
  it('is one text, however it is cut and wherever a page is empty', async () => {
    const { open, permits } = setUp();
    for (const [letters, text] of [
      ['a', '[a]'],
      [' ', '[]'],
      ['abc', '[a,b,c]'],
      ['  a  b ', '[a,b]'],
      ['   ', '[]'],
    ] as const) {
      assert.equal(await read((await open(letters)).pieces), text);
      assert.equal(permits.tenants(), 0);
    }
  });

  it('takes no permit where it is one page', async () => {
    const { open, permits } = setUp();
    const long = await open('ab');
    assert.equal(permits.tenants(), 1);
    assert.equal(await read((await open('c')).pieces), '[c]');
    await read(long.pieces);
  });

  it('of one page has ended its pages before that is read', async () => {
    let isLeft = false;
    const { pieces } = await setUp().open('a', undefined, () => {
      isLeft = true;
    });
    assert.equal(isLeft, true);
    assert.equal(await read(pieces), '[a]');
  });

  it('runs no query before it has a permit, where it is known to be long', async () => {
    const { openLong, openAs, permits } = setUp();
    const first = await openLong('ab');
    let hasBegun = false;
    async function* pages(): AsyncGenerator<Page, void> {
      hasBegun = true;
      yield { bytes: Buffer.from('c'), isLast: true };
    }
    const second = openAs(true, pages(), new AbortController().signal);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(hasBegun, false);
    assert.equal(await read(first.pieces), '[a,b]');
    assert.equal(await read((await second).pieces), '[c]');
    assert.equal(permits.tenants(), 0);
    await assert.rejects(openLong('!'), /no page/);
    assert.equal(permits.tenants(), 0);
  });

  it('waits for a permit, and is rejected where too many wait', async () => {
    const { open, logLines } = setUp();
    const first = await open('ab');
    const second = open('cd');
    // It joins the queue after its first page.
    for (let ticks = 0; ticks < 5; ticks += 1) await new Promise((resolve) => setImmediate(resolve));
    await assert.rejects(open('ef'), (error) => error instanceof ApiError && error.status === 503);
    assert.equal(logLines[0]?.['request_id'], 'r');
    assert.equal(await read(first.pieces), '[a,b]');
    assert.equal(await read((await second).pieces), '[c,d]');
  });

  it('is rejected past the time limit, while every permit is taken', async () => {
    const { open, dependencies } = setUp();
    const first = await open('ab');
    Object.assign(dependencies, { timeoutMs: 1 });
    await assert.rejects(open('cd'), (error) => error instanceof ApiError && error.status === 503);
    await read(first.pieces);
  });

  it('throws what the first page throws, and keeps no permit', async () => {
    const { open, permits } = setUp();
    await assert.rejects(open('!'), /no page/);
    assert.equal(permits.tenants(), 0);
  });

  it('returns its permit where a later page fails', async () => {
    const { open, permits } = setUp();
    await assert.rejects(read((await open('ab!')).pieces), /no page/);
    assert.equal(permits.tenants(), 0);
  });

  it('returns its permit, and reads no more pages, where the reader stops', async () => {
    const { open, permits } = setUp();
    let isLeft = false;
    const { pieces } = await open('abc', undefined, () => {
      isLeft = true;
    });
    for await (const piece of pieces) {
      // By then the pages themselves have been begun.
      if (Buffer.from(piece).toString() === 'b') break;
    }
    assert.equal(isLeft, true);
    assert.equal(permits.tenants(), 0);
  });

  it('returns its permit where the caller leaves before anything is read', async () => {
    const { open, permits } = setUp();
    const gone = new AbortController();
    await open('ab', gone.signal);
    gone.abort();
    assert.equal(permits.tenants(), 0);
  });

  it('returns its permit where the caller leaves just when it gets it', async () => {
    const { open, permits } = setUp();
    const gone = new AbortController();
    const enter = permits.acquire.bind(permits);
    Object.assign(permits, {
      acquire: async (...given: Parameters<typeof enter>) => {
        const permit = await enter(...given);
        gone.abort();
        return permit;
      },
    });
    await open('ab', gone.signal);
    assert.equal(permits.tenants(), 0);
  });

  it('leaves the queue where the caller leaves while it waits', async () => {
    const { open, permits, logLines } = setUp();
    const first = await open('ab');
    const gone = new AbortController();
    const second = open('cd', gone.signal);
    for (let ticks = 0; ticks < 5; ticks += 1) await new Promise((resolve) => setImmediate(resolve));
    gone.abort();
    await assert.rejects(second, ApiError);
    await read(first.pieces);
    assert.equal(permits.tenants(), 0);
    assert.deepEqual(logLines, []);
  });
});
