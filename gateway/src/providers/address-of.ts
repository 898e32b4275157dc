import type { UpstreamRequest } from './upstream.ts';

/** The address of a request below a base URL, which may have a path and a query of its own. */
export function addressOf(
  baseUrl: string | URL,
  { path, query }: Pick<UpstreamRequest, 'path' | 'query'>,
): URL {
  const { origin, pathname, search } = new URL(baseUrl);
  return new URL(origin + pathname.replace(/\/+$/, '') + path + withQuery(search, query));
}

/** The query of an address, with what is added to it. */
export function withQuery(search: string, query: Readonly<Record<string, string>>): string {
  if (Object.keys(query).length === 0) return search;
  const added = new URLSearchParams(query).toString();
  return search === '' ? `?${added}` : `${search}&${added}`;
}
