import { type AnalyticsSearch, analyticsQuery, validateAnalytics } from '../../app/analytics-search.ts';
import { withoutUndefined } from '../../app/search.ts';

export const STATUS_CATEGORIES = ['2xx', '3xx', '4xx', '5xx'] as const;
export const ENDINGS = [
  'success',
  'proxy_guillotine',
  'client_disconnect',
  'upstream_stream_aborted',
] as const;

/** The search parameters of the page. */
export interface RequestsSearch extends AnalyticsSearch {
  readonly status?: (typeof STATUS_CATEGORIES)[number] | undefined;
  readonly ending?: (typeof ENDINGS)[number] | undefined;
  /** An error_code, or `any`. */
  readonly error?: string | undefined;
  /** The lowest cost, in PKR: a plain decimal. */
  readonly cost?: string | undefined;
  readonly q?: string | undefined;
  readonly offset?: number | undefined;
  /** The request whose details are open. */
  readonly request?: string | undefined;
  /** Newest requests appear by themselves. */
  readonly live?: boolean | undefined;
}

const MAX_TEXT = 300;
// Whatever the field takes, as the number that the URL makes of it.
const COST = /^(?:\d{1,17}(?:\.\d{0,6})?|\.\d{1,6})$/;

/** Keeps what is valid. */
export function validateRequests(search: Readonly<Record<string, unknown>>): RequestsSearch {
  const { status, ending, error, cost, q, offset, request, live } = search;
  const text = (value: unknown) =>
    typeof value === 'string' && value !== '' && value.length <= MAX_TEXT ? value : undefined;
  return withoutUndefined({
    ...validateAnalytics(search),
    status: STATUS_CATEGORIES.find((each) => each === status),
    ending: ENDINGS.find((each) => each === ending),
    error: text(error),
    cost: COST.test(String(cost)) ? String(cost) : undefined,
    q: text(q),
    offset: /^[1-9]\d{0,9}$/.test(String(offset)) ? Number(offset) : undefined,
    request: text(request),
    live: live === true || live === 'true' ? true : undefined,
  });
}

/** The conditions as the list takes them, which calls the model `model`. */
export function listQuery(search: RequestsSearch) {
  const { model_alias, ...query } = analyticsQuery(search);
  return { ...query, ...(model_alias === undefined ? {} : { model: model_alias }), ...conditions(search) };
}

/** The same conditions as the trend takes them. */
export function trendQuery(search: RequestsSearch) {
  return { ...analyticsQuery(search), ...conditions(search) };
}

function conditions({ status, ending, error, cost, q }: RequestsSearch) {
  return {
    ...(status === undefined ? {} : { status_category: status }),
    ...(ending === undefined ? {} : { termination_reason: ending }),
    ...(error === undefined ? {} : { error_code: error }),
    ...(cost === undefined ? {} : { min_cost_pkr: Number(cost) }),
    ...(q === undefined ? {} : { search: q }),
  };
}

/** True if any condition but the window is set. */
export function isFiltered(search: RequestsSearch): boolean {
  const { project, key, model, status, ending, error, cost, q } = search;
  return [project, key, model, status, ending, error, cost, q].some((value) => value !== undefined);
}
