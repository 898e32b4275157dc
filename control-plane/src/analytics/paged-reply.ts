import type { FairScheduler, Permit } from '@gatehouse/concurrency';
import type { StreamedReply } from '../http/implement.ts';
import type { QuerySession } from './query-session.ts';

/**
 * An answer of any size, from many short queries. Each page is in memory whole before it is sent, so a slow reader keeps
 * nothing busy in the store, and other queries run between two pages. Memory per reader: the page being sent and the one
 * after it. A request that waits for a permit holds nothing yet.
 */
export interface PagedAnswer {
  readonly contentType: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly begin: string;
  /** Written between two pages. */
  readonly between: string;
  readonly end: string;
  readonly pages: AsyncGenerator<Page, void>;
  /** The permits for answers of this kind. */
  readonly permits: FairScheduler;
  /** True if it is likely to have several pages. */
  readonly isLong: boolean;
}

export interface Page {
  /** May be empty. */
  readonly bytes: Uint8Array;
  readonly isLast: boolean;
}

/** An answer ends after this time, however slow the reader. */
const MAX_ANSWER_MS = 3_600_000;

/** Throws what the first page throws; a failure of a later page aborts the answer. */
export async function pagedReply(
  session: QuerySession,
  { contentType, headers = {}, permits, isLong, ...answer }: PagedAnswer,
): Promise<StreamedReply> {
  using stack = new DisposableStack();
  if (isLong) stack.use(await session.permit(permits));
  const { value: first } = await answer.pages.next();
  if (!first) throw new Error('an answer has at least one page');
  if (first.isLast) {
    // Suspended, they would keep what the page was made of for as long as the caller takes to read it.
    await answer.pages.return();
    const whole = Buffer.concat([Buffer.from(answer.begin), first.bytes, Buffer.from(answer.end)]);
    return { contentType, headers, pieces: onePiece(whole) };
  }
  if (!isLong) stack.use(await session.permit(permits));
  const permit = stack.move();
  // Where the caller leaves before the reply is read, nothing else would return the permit.
  session.gone.addEventListener('abort', () => permit.dispose(), { once: true });
  if (session.gone.aborted) permit.dispose();
  return { contentType, headers, pieces: allPages(session, answer, first, permit) };
}

type Answer = Pick<PagedAnswer, 'begin' | 'between' | 'end' | 'pages'>;

async function* onePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

async function* allPages(
  session: QuerySession,
  { begin, between, end, pages }: Answer,
  first: Page,
  permit: Permit,
): AsyncGenerator<Uint8Array> {
  using _ = permit;
  const endsAt = performance.now() + MAX_ANSWER_MS;
  yield Buffer.from(begin);
  yield first.bytes;
  let hasBytes = first.bytes.length > 0;
  session.nextPage();
  for await (const { bytes } of pages) {
    if (performance.now() > endsAt) throw new Error('the reader took too long to read the answer');
    if (bytes.length > 0) {
      if (hasBytes) yield Buffer.from(between);
      yield bytes;
      hasBytes = true;
    }
    session.nextPage();
  }
  yield Buffer.from(end);
}
