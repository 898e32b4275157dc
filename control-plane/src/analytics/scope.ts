import { type Duration, notFound, type OrganizationId } from '@gatehouse/contract';
import type { Database } from '@gatehouse/store';
import { findOwnedKey, findOwnedProject } from '../keys/index.ts';
import type { Scope } from './telemetry.ts';
import type { Window } from './window.ts';

/** The ids that every endpoint of the section filters by. */
interface OwnedIds {
  readonly project_id?: string | undefined;
  readonly key_id?: string | undefined;
}

/** The filters of an endpoint whose window ends now, parsed. */
export interface ScopeQuery extends OwnedIds {
  readonly time_range: Duration;
}

/** Turns the common filters into a scope that ends at `nowMicros`. Throws as `findScopeIn` does. */
export function findScope(
  database: Database,
  organizationId: OrganizationId,
  query: ScopeQuery,
  model: string | undefined,
  nowMicros: bigint,
): Promise<Scope> {
  const fromMicros = nowMicros - BigInt(query.time_range.seconds) * 1_000_000n;
  return findScopeIn(database, organizationId, query, model, { fromMicros, toMicros: nowMicros });
}

/**
 * Turns the common filters into a scope of the window. Throws 404 for a project or key that is not the organisation's.
 * PostgreSQL answers that, so it is the same while the telemetry store is unavailable.
 */
export async function findScopeIn(
  database: Database,
  organizationId: OrganizationId,
  query: OwnedIds,
  model: string | undefined,
  { fromMicros, toMicros }: Window,
): Promise<Scope> {
  const [projectId, keyId] = await Promise.all([
    query.project_id === undefined
      ? undefined
      : required('Project', findOwnedProject(database, organizationId, query.project_id)),
    query.key_id === undefined
      ? undefined
      : required('Key', findOwnedKey(database, organizationId, query.key_id)),
  ]);
  return { organizationId, fromMicros, toMicros, projectId, keyId, model };
}

async function required<T>(what: string, lookup: Promise<T | undefined>): Promise<T> {
  const id = await lookup;
  if (id === undefined) throw notFound(what);
  return id;
}
