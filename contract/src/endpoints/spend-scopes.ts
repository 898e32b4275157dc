/** The kinds of requests that a spend limit binds. */
export const SPEND_SCOPES = ['organization', 'project', 'key', 'member', 'metadata'] as const;

export type SpendScopeKind = (typeof SPEND_SCOPES)[number];

/** The windows of a spend limit, by the calendar of its time zone; a week begins on Monday. */
export const SPEND_WINDOWS = ['hour', 'day', 'week', 'month', 'lifetime'] as const;

export type SpendWindow = (typeof SPEND_WINDOWS)[number];

/** How a spend limit acts on a request that would pass it. */
export const SPEND_MODES = ['refuse', 'alert'] as const;

export type SpendMode = (typeof SPEND_MODES)[number];

/** The window after an amount: `an hour`, or `in all`. */
export function spendWindowInWords(window: SpendWindow): string {
  if (window === 'lifetime') return 'in all';
  return window === 'hour' ? 'an hour' : `a ${window}`;
}
