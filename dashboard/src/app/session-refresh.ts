import { storedText, storeText } from '../browser/storage.ts';
import { exclusively } from '../browser/tabs.ts';
import { isFresh } from './session-clock.ts';

// One refresh over all tabs: they share the cookies, and a lock of the browser lets one tab refresh while the others wait and
// then find it done.

const LOCK = 'gatehouse.refresh';
const REFRESHED_AT = 'gatehouse.refreshed-at';

export function refreshedAt(): number | undefined {
  const value = Number(storedText('local', REFRESHED_AT));
  return Number.isFinite(value) && value > 0 ? value : undefined;
}

/** A sign-in and a refresh both start a new access cookie. */
export function markRefreshed(): void {
  storeText('local', REFRESHED_AT, String(Date.now()));
}

/** Renews the access cookie with `send`, unless another tab has just done so. */
export function refreshOnce(send: () => Promise<void>): Promise<void> {
  return exclusively(LOCK, async () => {
    if (isFresh(refreshedAt(), Date.now())) return;
    await send();
    markRefreshed();
  });
}
