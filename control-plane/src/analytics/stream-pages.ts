import { analyticsUnavailable } from '@gatehouse/contract';
import type { StreamedReply } from '../http/implement.ts';
import { LineFull } from '../lib/fair-share.ts';
import type { Asker } from './inquiry.ts';
import type { AnalyticsParts } from './parts.ts';

/**
 * An answer of any size, from many short questions. Each page is in memory whole before it is sent, so a slow reader
 * keeps nothing busy in the store, and between two pages everybody else has a turn. What is held for a reader is the
 * page that it takes and the one that waits.
 */
export interface PagedAnswer {
  readonly contentType: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly begin: string;
  /** What stands between two pages. */
  readonly between: string;
  readonly end: string;
  readonly pages: AsyncGenerator<Page, void>;
}

export interface Page {
  /** May be empty. */
  readonly bytes: Uint8Array;
  readonly isLast: boolean;
}

/** However patient the reader, an answer ends at last. */
const LONGEST_MS = 3_600_000;

/** Throws what the first page throws; what a later one throws breaks the answer off. */
export async function streamPages(
  parts: AnalyticsParts,
  asker: Asker,
  { contentType, headers = {}, ...answer }: PagedAnswer,
): Promise<StreamedReply> {
  const { value: first } = await answer.pages.next();
  if (!first) throw new Error('an answer has at least one page');
  if (first.isLast) return { contentType, headers, pieces: inOnePiece(answer, first) };
  const turn = await takeTurn(parts, asker);
  return { contentType, headers, pieces: pieceByPiece(answer, first, turn) };
}

type Answer = Pick<PagedAnswer, 'begin' | 'between' | 'end' | 'pages'>;

async function* inOnePiece({ begin, end }: Answer, { bytes }: Page): AsyncGenerator<Uint8Array> {
  yield Buffer.concat([Buffer.from(begin), bytes, Buffer.from(end)]);
}

async function* pieceByPiece(
  { begin, between, end, pages }: Answer,
  first: Page,
  turn: Disposable,
): AsyncGenerator<Uint8Array> {
  using _ = turn;
  const endsAt = performance.now() + LONGEST_MS;
  yield Buffer.concat([Buffer.from(begin), first.bytes]);
  let isBegun = first.bytes.length > 0;
  for await (const { bytes } of pages) {
    if (performance.now() > endsAt) throw new Error('the reader took too long over the answer');
    if (bytes.length === 0) continue;
    yield isBegun ? Buffer.concat([Buffer.from(between), bytes]) : bytes;
    isBegun = true;
  }
  yield Buffer.from(end);
}

/** A turn that ends with the answer, also where the caller goes before anything of it was read. */
async function takeTurn(
  { streams, timeoutMs, log }: AnalyticsParts,
  { organizationId, requestId, gone }: Asker,
): Promise<Disposable> {
  const signal = AbortSignal.any([AbortSignal.timeout(timeoutMs), gone]);
  try {
    const turn = await streams.enter(organizationId, signal);
    const giveBack = () => turn[Symbol.dispose]();
    gone.addEventListener('abort', giveBack, { once: true });
    // It may have gone between its turn and here, and is then never heard of again.
    if (gone.aborted) giveBack();
    return turn;
  } catch (error) {
    if (!(error instanceof LineFull) && error !== signal.reason) throw error;
    if (!gone.aborted)
      log.warn({ request_id: requestId, err: error }, 'too many long answers are being read');
    throw analyticsUnavailable();
  }
}
