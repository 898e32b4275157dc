// The access cookie is valid for 15 minutes and cannot be read by the page. All tabs of a browser share the cookies, so they also
// share the time of the last refresh.

/** Shorter than the life of an access cookie by enough for a slow network and a clock that drifts. */
const REFRESH_AFTER_MS = 11 * 60_000;
/** A device that slept wakes many tabs at once; one of them refreshes. */
const SPREAD_MS = 30_000;

/** When to refresh, from now, in milliseconds. `random` is from 0 to 1: tabs do not all wake in one moment. */
export function refreshDelayMs(refreshedAtMs: number | undefined, nowMs: number, random: number): number {
  const spread = Math.round(random * SPREAD_MS);
  if (refreshedAtMs === undefined || refreshedAtMs > nowMs) return spread;
  return Math.max(0, refreshedAtMs + REFRESH_AFTER_MS - nowMs) + spread;
}
