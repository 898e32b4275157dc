import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createFairScheduler } from '@gatehouse/concurrency';
import { ApiError } from '@gatehouse/contract';
import { pino } from 'pino';
import type { AnalyticsParts } from './parts.ts';
import { type Page, streamPages } from './stream-pages.ts';

/** Pages that each hold a letter; a `!` fails in the place of a page. */
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
  const streams = createFairScheduler({ permits: 1, permitsPerTenant: 1, queuePerTenant: 1 });
  const log = pino({}, { write: (line: string) => logLines.push(JSON.parse(line)) });
  const parts = { log, timeoutMs: 60_000 } as unknown as AnalyticsParts;
  const openAs = (isLong: boolean, pages: AsyncGenerator<Page, void>, gone: AbortSignal) =>
    streamPages(
      parts,
      { organizationId: 'o', requestId: 'r', gone },
      { contentType: 'x/y', begin: '[', between: ',', end: ']', pages, turns: streams, isLong },
    );
  const open = (letters: string, gone = new AbortController().signal, left?: () => void) =>
    openAs(false, pagesOf(letters, left), gone);
  const openLong = (letters: string, gone = new AbortController().signal) =>
    openAs(true, pagesOf(letters), gone);
  return { streams, open, openLong, openAs, logLines, parts };
}

const read = async (pieces: AsyncIterable<Uint8Array>) =>
  Buffer.concat(await Array.fromAsync(pieces)).toString();

describe('an answer in pages', () => {
  it('is one text, however it is cut and wherever a page is empty', async () => {
    const { open, streams } = setUp();
    for (const [letters, text] of [
      ['a', '[a]'],
      [' ', '[]'],
      ['abc', '[a,b,c]'],
      ['  a  b ', '[a,b]'],
      ['   ', '[]'],
    ] as const) {
      assert.equal(await read((await open(letters)).pieces), text);
      assert.equal(streams.tenants(), 0);
    }
  });

  it('takes no turn where it is one page', async () => {
    const { open, streams } = setUp();
    const long = await open('ab');
    assert.equal(streams.tenants(), 1);
    assert.equal(await read((await open('c')).pieces), '[c]');
    await read(long.pieces);
  });

  it('asks for nothing before it has a turn, where it is known to be long', async () => {
    const { openLong, openAs, streams } = setUp();
    const first = await openLong('ab');
    let hasAsked = false;
    async function* pages(): AsyncGenerator<Page, void> {
      hasAsked = true;
      yield { bytes: Buffer.from('c'), isLast: true };
    }
    const second = openAs(true, pages(), new AbortController().signal);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(hasAsked, false);
    assert.equal(await read(first.pieces), '[a,b]');
    assert.equal(await read((await second).pieces), '[c]');
    assert.equal(streams.tenants(), 0);
    await assert.rejects(openLong('!'), /no page/);
    assert.equal(streams.tenants(), 0);
  });

  it('waits for its turn, and is refused where too many wait', async () => {
    const { open, logLines } = setUp();
    const first = await open('ab');
    const second = open('cd');
    // The line is joined once the first page is there.
    for (let turns = 0; turns < 5; turns += 1) await new Promise((resolve) => setImmediate(resolve));
    await assert.rejects(open('ef'), (error) => error instanceof ApiError && error.status === 503);
    assert.equal(logLines[0]?.['request_id'], 'r');
    assert.equal(await read(first.pieces), '[a,b]');
    assert.equal(await read((await second).pieces), '[c,d]');
  });

  it('is refused past the time limit, while every turn is taken', async () => {
    const { open, parts } = setUp();
    const first = await open('ab');
    Object.assign(parts, { timeoutMs: 1 });
    await assert.rejects(open('cd'), (error) => error instanceof ApiError && error.status === 503);
    await read(first.pieces);
  });

  it('throws what the first page throws, and gives no turn away', async () => {
    const { open, streams } = setUp();
    await assert.rejects(open('!'), /no page/);
    assert.equal(streams.tenants(), 0);
  });

  it('gives its turn back where a later page fails', async () => {
    const { open, streams } = setUp();
    await assert.rejects(read((await open('ab!')).pieces), /no page/);
    assert.equal(streams.tenants(), 0);
  });

  it('gives its turn back, and asks for no more pages, where the reader leaves off', async () => {
    const { open, streams } = setUp();
    let isLeft = false;
    const { pieces } = await open('abc', undefined, () => {
      isLeft = true;
    });
    for await (const piece of pieces) {
      // By then the pages themselves have been begun.
      if (Buffer.from(piece).toString() === 'b') break;
    }
    assert.equal(isLeft, true);
    assert.equal(streams.tenants(), 0);
  });

  it('gives its turn back where the caller goes before anything is read', async () => {
    const { open, streams } = setUp();
    const gone = new AbortController();
    await open('ab', gone.signal);
    gone.abort();
    assert.equal(streams.tenants(), 0);
  });

  it('gives its turn back where the caller goes just when it gets it', async () => {
    const { open, streams } = setUp();
    const gone = new AbortController();
    const enter = streams.acquire.bind(streams);
    Object.assign(streams, {
      acquire: async (...given: Parameters<typeof enter>) => {
        const turn = await enter(...given);
        gone.abort();
        return turn;
      },
    });
    await open('ab', gone.signal);
    assert.equal(streams.tenants(), 0);
  });

  it('leaves the line where the caller goes while it waits', async () => {
    const { open, streams, logLines } = setUp();
    const first = await open('ab');
    const gone = new AbortController();
    const second = open('cd', gone.signal);
    for (let turns = 0; turns < 5; turns += 1) await new Promise((resolve) => setImmediate(resolve));
    gone.abort();
    await assert.rejects(second, ApiError);
    await read(first.pieces);
    assert.equal(streams.tenants(), 0);
    assert.deepEqual(logLines, []);
  });
});
