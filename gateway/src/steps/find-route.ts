import { isStorableText } from '@gatehouse/contract';
import type { Queryable } from '@gatehouse/store';
import { findRoute as findRouteRow, type Route } from '../queries.ts';
import { modelNotFound } from '../refusal.ts';

// No route's id is longer; a caller's may be a megabyte.
const LONGEST_ID = 256;

/** 404 unless there is an active route of this id that serves the endpoint. Read anew for every request. */
export async function findRoute(database: Queryable, model: string, endpoint: string): Promise<Route> {
  const isPossible = model.length <= LONGEST_ID && isStorableText(model);
  const route = isPossible ? await findRouteRow(database, model) : undefined;
  if (!route?.endpoints.includes(endpoint)) throw modelNotFound(model);
  return route;
}
