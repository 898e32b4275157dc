import { type AnalyticsSearch, validateAnalytics } from '../../app/analytics-search.ts';
import { withoutUndefined } from '../../app/search.ts';

/** The name under which the gateway records the session of coding agents. */
export const DEFAULT_NAME = 'session-id';

export const SORTS = ['last_request', 'requests', 'cost', 'duration'] as const;

/** The search parameters of the page. */
export interface SessionsSearch extends AnalyticsSearch {
  /** The name of the metadata. */
  readonly name?: string | undefined;
  readonly q?: string | undefined;
  readonly sort?: (typeof SORTS)[number] | undefined;
  readonly offset?: number | undefined;
}

const MAX_NAME = 64;
const MAX_TEXT = 300;

/** Keeps what is valid; a default leaves no trace. */
export function validateSessions(search: Readonly<Record<string, unknown>>): SessionsSearch {
  const { name, q, sort, offset } = search;
  return withoutUndefined({
    ...validateAnalytics(search),
    name: isName(name) && name !== DEFAULT_NAME ? name : undefined,
    q: typeof q === 'string' && q !== '' && q.length <= MAX_TEXT ? q : undefined,
    sort: SORTS.slice(1).find((each) => each === sort),
    offset: /^[1-9]\d{0,9}$/.test(String(offset)) ? Number(offset) : undefined,
  });
}

/** True if the API takes it as the name of metadata. */
export function isName(name: unknown): name is string {
  return typeof name === 'string' && name.trim() !== '' && name.length <= MAX_NAME;
}
