import type { PendingSignIn } from './google-redirect.ts';

const KEY = 'gatehouse.google';

/** For this tab only, and for one answer. */
export function savePending(pending: PendingSignIn): void {
  sessionStorage.setItem(KEY, JSON.stringify(pending));
}

export function takePending(): PendingSignIn | undefined {
  try {
    const text = sessionStorage.getItem(KEY);
    sessionStorage.removeItem(KEY);
    const value: unknown = JSON.parse(text ?? 'null');
    if (typeof value !== 'object' || value === null) return undefined;
    const { state, nonce, returnTo } = value as Record<string, unknown>;
    if (typeof state !== 'string' || typeof nonce !== 'string' || typeof returnTo !== 'string')
      return undefined;
    return { state, nonce, returnTo };
  } catch {
    return undefined;
  }
}
