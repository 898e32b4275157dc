import { removeText, storedText, storeText } from '../../browser/storage.ts';
import type { PendingSignIn } from './google-redirect.ts';

const KEY = 'gatehouse.google';

/** For this tab only, and for one answer. False where the browser does not keep it. */
export function savePending(pending: PendingSignIn): boolean {
  return storeText('session', KEY, JSON.stringify(pending));
}

export function takePending(): PendingSignIn | undefined {
  const text = storedText('session', KEY);
  removeText('session', KEY);
  try {
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
