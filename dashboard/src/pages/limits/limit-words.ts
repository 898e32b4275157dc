import type { SpendLimit } from '@gatehouse/sdk';

export type SpendWindow = SpendLimit['window'];
export type ScopeKind = SpendLimit['scope']['kind'];

export const WINDOWS: readonly { readonly value: SpendWindow; readonly label: string }[] = [
  { value: 'hour', label: 'Hour' },
  { value: 'day', label: 'Day' },
  { value: 'week', label: 'Week, from Monday' },
  { value: 'month', label: 'Month' },
  { value: 'lifetime', label: 'Lifetime' },
];

export const SCOPES: readonly { readonly value: ScopeKind; readonly label: string }[] = [
  { value: 'organization', label: 'Organisation' },
  { value: 'project', label: 'Project' },
  { value: 'key', label: 'Key' },
  { value: 'member', label: 'Member' },
  { value: 'metadata', label: 'Metadata' },
];

/** The names of what limits are of, by id. */
export interface Names {
  readonly projects: ReadonlyMap<string, string>;
  readonly keys: ReadonlyMap<string, string>;
  readonly members: ReadonlyMap<string, string>;
}

/** The requests that a limit binds; the name is undefined for what is gone, such as a revoked key. */
export function scopeOf(
  scope: SpendLimit['scope'],
  names: Names,
): { kind: string; name?: string | undefined } {
  switch (scope.kind) {
    case 'organization':
      return { kind: 'Organisation', name: 'All requests' };
    case 'project':
      return { kind: 'Project', name: names.projects.get(scope.id) };
    case 'key':
      return { kind: 'Key', name: names.keys.get(scope.id) };
    case 'member':
      return { kind: 'Keys of member', name: names.members.get(scope.id) };
    case 'metadata':
      return { kind: `Metadata ${scope.name}`, name: scope.value ?? 'Each value' };
  }
}

// A month of 31 days, which touches six weeks where its first day is a Sunday.
const WINDOWS_OF_MONTH: Readonly<Record<SpendWindow, number>> = {
  hour: 31 * 24,
  day: 31,
  week: 6,
  month: 1,
  lifetime: 1,
};

/** The most that a limit lets be spent in a month, for each of its values. */
export function mostInMonth(window: SpendWindow, limitPkr: number): number {
  return WINDOWS_OF_MONTH[window] * limitPkr;
}

/** The thresholds of a text such as `50, 80`; undefined if it is none. Empty, there are none. */
export function thresholdsOf(text: string): number[] | undefined {
  const parts = text.split(/[\s,;%]+/).filter((part) => part !== '');
  const numbers = parts.map((part) => (/^\d{1,3}$/.test(part) ? Number(part) : 0));
  return numbers.every((number) => number >= 1 && number <= 100) ? numbers : undefined;
}

/** The highest threshold that the spend of the window has passed; undefined before the first. */
export function passedThreshold({ alert_at, spent_pkr, limit_pkr }: SpendLimit): number | undefined {
  return alert_at.findLast((percent) => spent_pkr > 0 && spent_pkr * 100 >= limit_pkr * percent);
}
