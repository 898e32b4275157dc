import { BUILT_IN_ROUTE } from './catalogue-file.ts';
import type { ConsistencyIssue } from './consistency.ts';

// Far more than any file needs; each costs time in the transaction that applies the file.
const MAX_ALIASES = 10_000;

/** The names of one route of the file; undefined where the file's are invalid. */
export interface RouteNames {
  readonly id: string | undefined;
  readonly aliases: readonly string[] | undefined;
}

/** A name that two routes claim, or that a route claims twice. Callers send one name and must reach one route. */
export function sharedNames(routes: readonly RouteNames[]): ConsistencyIssue[] {
  const found: ConsistencyIssue[] = [];
  const ids = new Set<string>();
  routes.forEach(({ id }, index) => {
    if (id === undefined) return;
    if (ids.has(id)) found.push({ path: ['routes', index, 'id'], message: `the route ${id} is named twice` });
    ids.add(id);
  });
  const ownerOf = new Map<string, string>();
  routes.forEach(({ id = 'this route', aliases = [] }, index) => {
    aliases.forEach((alias, place) => {
      const issue = issueOf(alias, id, ids, ownerOf.get(alias));
      if (issue) found.push({ path: ['routes', index, 'aliases', place], message: issue });
      else ownerOf.set(alias, id);
      if (ownerOf.size === MAX_ALIASES + 1 && !issue) {
        const message = `is one too many; a file may have at most ${MAX_ALIASES} aliases`;
        found.push({ path: ['routes', index, 'aliases', place], message });
      }
    });
  });
  return found;
}

function issueOf(
  alias: string,
  id: string,
  ids: ReadonlySet<string>,
  owner: string | undefined,
): string | undefined {
  if (alias === id) return `the alias ${alias} is the id of the route itself`;
  if (ids.has(alias)) return `the alias ${alias} is the id of another route`;
  if (alias === BUILT_IN_ROUTE) return `the alias ${alias} is the id of the built-in route`;
  if (owner === id) return `the alias ${alias} is named twice`;
  return owner === undefined ? undefined : `the alias ${alias} is one of the route ${owner} already`;
}
