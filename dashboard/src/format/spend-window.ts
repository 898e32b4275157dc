import type { SpendLimit } from '@gatehouse/sdk';

/** A window after an amount: "a day", "in all". */
export function perWindow(window: SpendLimit['window']): string {
  if (window === 'lifetime') return 'in all';
  return window === 'hour' ? 'an hour' : `a ${window}`;
}
