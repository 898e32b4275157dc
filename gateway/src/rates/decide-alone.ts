import type { KeyRequests } from './own-requests.ts';
import type { RateDecision } from './rate-limiter.ts';

const WINDOW_MS = 60_000;

/** How a key stands for a process that may have `share` of its requests and, for a while, no more than the cap. */
export function decideAlone(
  requests: KeyRequests,
  limit: number,
  share: number,
  nowMs: number,
): RateDecision {
  const shared = Math.min(limit, share);
  const isCapped = nowMs < requests.capUntilMs && requests.cap < shared;
  const most = isCapped ? requests.cap : shared;
  // A question without an answer may be a request.
  const used = requests.size + requests.pending;
  const isAllowed = used < most;
  const untilLeftMs = (index: number) => {
    const atMs = index >= 0 && index < requests.size ? requests.atMs(index) : undefined;
    return atMs === undefined ? 0 : WINDOW_MS - (nowMs - atMs);
  };
  const capMs = isCapped ? requests.capUntilMs - nowMs : 0;
  const whenCapEndsMs = Math.max(capMs, untilLeftMs(requests.size - shared));
  const retryAfterMs =
    isCapped && most > 0 ? Math.min(untilLeftMs(requests.size - most), whenCapEndsMs) : whenCapEndsMs;
  return {
    isAllowed,
    limit,
    remaining: Math.max(0, most - used),
    resetMs: Math.max(capMs, untilLeftMs(requests.size - 1)),
    retryAfterMs: isAllowed ? 0 : Math.max(1, retryAfterMs),
  };
}
