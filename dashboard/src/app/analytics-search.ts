import { DEFAULT_RANGE, parseRange, rangeQuery, rangeSearch, type TimeRange } from '../format/range.ts';
import { withoutUndefined } from './search.ts';

/** The URL members that the pages over the request log share: the window and three filters. */
export interface AnalyticsSearch {
  readonly range?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly project?: string | undefined;
  readonly key?: string | undefined;
  readonly model?: string | undefined;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** Longer than any route id. */
const MAX_MODEL = 300;

/** Keeps what is valid; a page adds its own parameters. A URL without a range has the default. */
export function validateAnalytics(search: Readonly<Record<string, unknown>>): AnalyticsSearch {
  const range = parseRange(search);
  return {
    ...(range === undefined ? {} : rangeSearch(range)),
    ...textOf('project', search['project'], (text) => UUID.test(text)),
    ...textOf('key', search['key'], (text) => UUID.test(text)),
    ...textOf('model', search['model'], (text) => text.length <= MAX_MODEL),
  };
}

function textOf<Name extends string>(
  name: Name,
  value: unknown,
  isValid: (text: string) => boolean,
): { [key in Name]?: string } {
  return typeof value === 'string' && value !== '' && isValid(value)
    ? ({ [name]: value } as { [key in Name]: string })
    : {};
}

export function searchRange(search: AnalyticsSearch): TimeRange {
  return parseRange({ ...search }) ?? DEFAULT_RANGE;
}

/** The parameters for another window; those of the window before are gone. */
export function withRange<Search extends AnalyticsSearch>(search: Search, range: TimeRange): Search {
  return { ...search, range: undefined, from: undefined, to: undefined, ...rangeSearch(range) };
}

/** The members that pages over the request log share, for a link from one to another. */
export function windowAndFilters({ range, from, to, project, key, model }: AnalyticsSearch): AnalyticsSearch {
  return withoutUndefined({ range, from, to, project, key, model });
}

/** The window and the filters as the analytics endpoints take them. */
export function analyticsQuery(search: AnalyticsSearch): {
  time_range?: string;
  from?: string;
  to?: string;
  project_id?: string;
  key_id?: string;
  model_alias?: string;
} {
  return {
    ...rangeQuery(searchRange(search)),
    ...(search.project === undefined ? {} : { project_id: search.project }),
    ...(search.key === undefined ? {} : { key_id: search.key }),
    ...(search.model === undefined ? {} : { model_alias: search.model }),
  };
}
