import { type AnalyticsSearch, validateAnalytics } from '../../app/analytics-search.ts';
import { type RequestsSearch, validateRequests } from '../requests/requests-search.ts';

/** By what errors are grouped. The first is the default. */
export const GROUPINGS = ['error_code', 'status', 'model', 'key'] as const;
export type Grouping = (typeof GROUPINGS)[number];

/** The search parameters of the page. */
export interface ErrorsSearch extends AnalyticsSearch {
  readonly by?: Grouping | undefined;
  /** The group that is explained; the largest unless given. */
  readonly group?: string | undefined;
  /** The errors without a group instead: of no known key, or rejected before the model was read. */
  readonly unknown?: boolean | undefined;
}

const MAX_TEXT = 300;
const STATUS = /^[1-5]\d\d$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Keeps what is valid. A group counts only where its grouping can have it. */
export function validateErrors(search: Readonly<Record<string, unknown>>): ErrorsSearch {
  const by = GROUPINGS.find((each) => each === search['by']);
  const { group, unknown } = search;
  const hasGroup = typeof group === 'string' && isGroup(by ?? GROUPINGS[0], group);
  const isUnknown = !hasGroup && (unknown === true || unknown === 'true');
  return {
    ...validateAnalytics(search),
    ...(by === undefined || by === GROUPINGS[0] ? {} : { by }),
    ...(hasGroup ? { group } : {}),
    ...(isUnknown ? { unknown: true } : {}),
  };
}

/** True if it can be asked for: a name of another's may be too long for a URL. */
export function isGroup(by: Grouping, text: string): boolean {
  if (text === '' || text.length > MAX_TEXT) return false;
  // `any` is no code: as a filter it stands for all of them.
  return by === 'status' ? STATUS.test(text) : by === 'key' ? UUID.test(text) : text !== 'any';
}

/** The errors of one group, as parameters of the page of requests, which has no filter for a single status. */
export function requestsSearch(search: AnalyticsSearch, by: Grouping, group: string): RequestsSearch {
  const own = {
    error_code: { error: group },
    status: { error: 'any', status: `${group.slice(0, 1)}xx` },
    model: { error: 'any', model: group },
    key: { error: 'any', key: group },
  };
  return validateRequests({ ...validateAnalytics({ ...search }), ...own[by] });
}
