import type { CallOptions } from './call.ts';
import type { ListRequestsInput, ListRequestsReply, RequestLogEntry } from './generated/index.ts';

/** The filters of what is followed. It goes on without an end, so it takes no page. */
export type FollowInput = Omit<ListRequestsInput, 'limit' | 'offset' | 'to'>;

export interface FollowOptions extends CallOptions {
  /** How many earlier requests come first: at most 200, none by default. */
  readonly earlier?: number | undefined;
  /** How long to wait between two looks, in milliseconds: 2,000 by default. */
  readonly everyMs?: number | undefined;
}

type ListRequests = (input: ListRequestsInput, options: CallOptions) => Promise<ListRequestsReply>;

const EVERY_MS = 2_000;
const MAX_PAGE = 200;
/** Requests that are known, so that none comes twice; more than arrive within the time that a row takes to be shown. */
const MAX_SEEN = 10_000;

/** The requests as they come, the older ones of a look first, each once, until the signal aborts. */
export async function* followed(
  list: ListRequests,
  input: FollowInput,
  { earlier = 0, everyMs = EVERY_MS, ...given }: FollowOptions,
): AsyncGenerator<RequestLogEntry, never> {
  const page = async (limit: number, offset: number) =>
    (await list({ ...input, limit, offset }, given)).requests;
  const first = await page(MAX_PAGE, 0);
  const seen = new Set(first.map(({ req_id }) => req_id));
  yield* first.slice(0, earlier).toReversed();
  for (;;) {
    await pause(everyMs, given.signal);
    const fresh: RequestLogEntry[] = [];
    for (let offset = 0; offset < MAX_SEEN; offset += MAX_PAGE) {
      const unseen = (await page(MAX_PAGE, offset)).filter(({ req_id }) => !seen.has(req_id));
      for (const { req_id } of unseen) seen.add(req_id);
      fresh.push(...unseen);
      // Older ones are known, or came before.
      if (unseen.length < MAX_PAGE) break;
    }
    for (const id of seen) {
      if (seen.size <= MAX_SEEN) break;
      seen.delete(id);
    }
    yield* fresh.toReversed();
  }
}

/** Waits, or throws the reason of the signal. */
function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, ms);
    if (signal?.aborted) abort();
    else signal?.addEventListener('abort', abort, { once: true });
  });
}
