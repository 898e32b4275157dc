import { storedText, storeText } from '../browser/storage.ts';
import { exclusively, isFlagRaised, raiseFlag } from '../browser/tabs.ts';
import { refreshDelayMs } from './session-clock.ts';

// One refresh over all tabs, which share the cookies. A tab refreshes while it has a lock, and before it gives the lock away it
// raises a flag, so that the next one knows of the refresh. The time of a refresh in the storage says more, but a tab may read
// there what was true a moment ago. A tab that need not refresh for the time's sake asks the service whether the cookies are
// accepted: the browser has stored the new ones before the tab that refreshed had its answer.

const LOCK = 'gatehouse.refresh';
const REFRESHED = 'gatehouse.refreshed';
const REFRESHED_AT = 'gatehouse.refreshed-at';
/** Longer than the storage of one tab takes to reach the others. */
const FLAG_MS = 60_000;
const ASK_MS = 10_000;

/** The time that this tab knows by itself: the storage may be forbidden. */
let knownAt = 0;

/** When a tab last refreshed. A refresh of another tab may be missing for a moment. */
export function refreshedAt(): number | undefined {
  const value = Math.max(knownAt, Number(storedText('local', REFRESHED_AT)) || 0);
  return Number.isFinite(value) && value > 0 ? value : undefined;
}

/** A sign-in and a refresh both start a new access cookie. */
export function markRefreshed(): void {
  knownAt = Date.now();
  storeText('local', REFRESHED_AT, String(knownAt));
}

/** Renews the access cookie with `send`, unless another tab has just done so. */
export function refreshOnce(send: () => Promise<void>): Promise<void> {
  return exclusively(LOCK, async () => {
    if (!(await isDue()) && (await isAccepted())) return;
    await send();
    markRefreshed();
    await raiseFlag(REFRESHED, FLAG_MS);
  });
}

/** True if the access cookie is old enough to renew it, for all that this tab knows. */
async function isDue(): Promise<boolean> {
  if (refreshDelayMs(refreshedAt(), Date.now(), 0) > 0) return false;
  if (!(await isFlagRaised(REFRESHED))) return true;
  // Not longer ago than the flag is up.
  knownAt = Date.now();
  return false;
}

/** True if the service takes the access cookie that the browser has now. */
function isAccepted(): Promise<boolean> {
  return fetch('/api/auth/me', { cache: 'no-store', signal: AbortSignal.timeout(ASK_MS) }).then(
    ({ ok }) => ok,
    () => false,
  );
}
