// The access cookie is valid for 15 minutes and cannot be read by the page. All tabs of a browser share the cookies, so they also
// share the time of the last refresh.

/** Shorter than the life of an access cookie by enough for a slow network and a clock that drifts. */
const REFRESH_AFTER_MS = 11 * 60_000;
/** A device that slept wakes many tabs at once; one of them refreshes. */
const SPREAD_MS = 30_000;
/** A cookie as new as this needs no refresh: another tab has just done it. */
const FRESH_MS = 10_000;

/** When to refresh, from now, in milliseconds. `random` is from 0 to 1: tabs do not all wake in one moment. */
export function refreshDelayMs(refreshedAtMs: number | undefined, nowMs: number, random: number): number {
  const spread = Math.round(random * SPREAD_MS);
  if (refreshedAtMs === undefined || refreshedAtMs > nowMs) return spread;
  return Math.max(0, refreshedAtMs + REFRESH_AFTER_MS - nowMs) + spread;
}

/** Whether a refresh was so recent that a call may be repeated without another one. */
export function isFresh(refreshedAtMs: number | undefined, nowMs: number): boolean {
  return refreshedAtMs !== undefined && refreshedAtMs <= nowMs && nowMs - refreshedAtMs < FRESH_MS;
}
