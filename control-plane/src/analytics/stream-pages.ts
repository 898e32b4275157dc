import type { FairScheduler } from '@gatehouse/concurrency';
import type { StreamedReply } from '../http/implement.ts';
import { type Asker, enterInTurn } from './inquiry.ts';
import type { AnalyticsParts } from './parts.ts';

/**
 * An answer of any size, from many short questions. Each page is in memory whole before it is sent, so a slow reader
 * keeps nothing busy in the store, and between two pages everybody else has a turn. What is held for a reader is the
 * page that it takes and the one that waits. Who waits for a turn at a long answer holds nothing yet.
 */
export interface PagedAnswer {
  readonly contentType: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly begin: string;
  /** What stands between two pages. */
  readonly between: string;
  readonly end: string;
  readonly pages: AsyncGenerator<Page, void>;
  /** The turns at answers of this kind. */
  readonly turns: FairScheduler;
  /** Whether it is likely to have several pages. */
  readonly isLong: boolean;
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
  { contentType, headers = {}, turns, isLong, ...answer }: PagedAnswer,
): Promise<StreamedReply> {
  using stack = new DisposableStack();
  if (isLong) stack.use(await takeTurn(parts, asker, turns));
  const { value: first } = await answer.pages.next();
  if (!first) throw new Error('an answer has at least one page');
  if (first.isLast) return { contentType, headers, pieces: inOnePiece(answer, first) };
  if (!isLong) stack.use(await takeTurn(parts, asker, turns));
  const turn = stack.move();
  asker.gone.addEventListener('abort', () => turn.dispose(), { once: true });
  // It may be gone already, and is then never heard of again.
  if (asker.gone.aborted) turn.dispose();
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
  yield Buffer.from(begin);
  yield first.bytes;
  let isBegun = first.bytes.length > 0;
  for await (const { bytes } of pages) {
    if (performance.now() > endsAt) throw new Error('the reader took too long over the answer');
    if (bytes.length === 0) continue;
    if (isBegun) yield Buffer.from(between);
    yield bytes;
    isBegun = true;
  }
  yield Buffer.from(end);
}

function takeTurn(
  { timeoutMs, log }: AnalyticsParts,
  asker: Asker,
  turns: FairScheduler,
): Promise<Disposable> {
  return enterInTurn(turns, asker, AbortSignal.any([AbortSignal.timeout(timeoutMs), asker.gone]), log);
}
