import { momentInZone, viewerZone } from '../../format/zone.ts';

/** When a key expires, as a form offers it. `keep` and `date` have their own field or value. */
export type ExpiryChoice = 'never' | '1d' | '7d' | '30d' | '90d' | '365d' | 'date' | 'keep';

const DAYS = { '1d': 1, '7d': 7, '30d': 30, '90d': 90, '365d': 365 } as const;
const DAY_MS = 86_400_000;

export const EXPIRY_OPTIONS: readonly { readonly value: ExpiryChoice; readonly label: string }[] = [
  { value: 'never', label: 'Never' },
  { value: '1d', label: 'In 1 day' },
  { value: '7d', label: 'In 7 days' },
  { value: '30d', label: 'In 30 days' },
  { value: '90d', label: 'In 90 days' },
  { value: '365d', label: 'In 1 year' },
  { value: 'date', label: 'At a date …' },
];

export type Expiry =
  | { readonly kind: 'never' }
  | { readonly kind: 'at'; readonly at: Date }
  | { readonly kind: 'problem'; readonly sentence: string };

/**
 * The moment of a choice. `date` is what a `datetime-local` field gives: `2026-12-01T09:30`, on the clocks of the zone.
 * `kept` is the expiry that the key has.
 */
export function expiryOf(
  choice: ExpiryChoice,
  date: string,
  now: Date,
  kept: string | null = null,
  zone = viewerZone,
): Expiry {
  if (choice === 'never') return { kind: 'never' };
  if (choice === 'keep') return kept === null ? { kind: 'never' } : { kind: 'at', at: new Date(kept) };
  if (choice !== 'date') return { kind: 'at', at: new Date(now.getTime() + DAYS[choice] * DAY_MS) };
  const at = momentInZone(date, zone);
  if (at === undefined) return { kind: 'problem', sentence: 'Enter a date and a time.' };
  return at.getTime() <= now.getTime()
    ? { kind: 'problem', sentence: 'Enter a time in the future.' }
    : { kind: 'at', at };
}

/** How urgent an expiry is. */
export type ExpiryState = 'never' | 'later' | 'soon' | 'expired';

/** A week is time enough to replace a key. */
const SOON_MS = 7 * DAY_MS;

export function expiryState(expiresAt: string | null, now: Date): ExpiryState {
  if (expiresAt === null) return 'never';
  const left = Date.parse(expiresAt) - now.getTime();
  if (left <= 0) return 'expired';
  return left <= SOON_MS ? 'soon' : 'later';
}
