import { isFresh } from './session-clock.ts';

// One refresh over all tabs: they share the cookies, and a lock of the browser lets one tab refresh while the others wait and
// then find it done.

const LOCK = 'gatehouse.refresh';
const REFRESHED_AT = 'gatehouse.refreshed-at';

export function refreshedAt(): number | undefined {
  try {
    const value = Number(localStorage.getItem(REFRESHED_AT));
    return Number.isFinite(value) && value > 0 ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A sign-in and a refresh both start a new access cookie. */
export function markRefreshed(): void {
  try {
    localStorage.setItem(REFRESHED_AT, String(Date.now()));
  } catch {
    // Then each tab refreshes for itself.
  }
}

/** Renews the access cookie with `send`, unless another tab has just done so. */
export function refreshOnce(send: () => Promise<void>): Promise<void> {
  const refresh = async () => {
    if (isFresh(refreshedAt(), Date.now())) return;
    await send();
    markRefreshed();
  };
  // Locks exist on https and on this machine only, as do the session's cookies.
  return 'locks' in navigator ? navigator.locks.request(LOCK, refresh) : refresh();
}
