import { type Duration, notFound, type OrganizationId } from '@gatehouse/contract';
import type { Database } from '@gatehouse/store';
import { findOwnedKey, findOwnedProject } from '../keys/index.ts';
import type { Scope } from './telemetry.ts';

/** The filters that every endpoint of the section takes, parsed. */
export interface ScopeQuery {
  readonly time_range: Duration;
  readonly project_id?: string | undefined;
  readonly key_id?: string | undefined;
}

/**
 * Turns the common filters into a scope that ends at `nowMicros`. Throws 404 for a project or key that is not the
 * organisation's. PostgreSQL answers that, so it is the same while the telemetry store is unavailable.
 */
export async function findScope(
  database: Database,
  organizationId: OrganizationId,
  query: ScopeQuery,
  model: string | undefined,
  nowMicros: bigint,
): Promise<Scope> {
  const [projectId, keyId] = await Promise.all([
    query.project_id === undefined
      ? undefined
      : required('Project', findOwnedProject(database, organizationId, query.project_id)),
    query.key_id === undefined
      ? undefined
      : required('Key', findOwnedKey(database, organizationId, query.key_id)),
  ]);
  return {
    organizationId,
    fromMicros: nowMicros - BigInt(query.time_range.seconds) * 1_000_000n,
    toMicros: nowMicros,
    projectId,
    keyId,
    model,
  };
}

async function required<T>(what: string, lookup: Promise<T | undefined>): Promise<T> {
  const id = await lookup;
  if (id === undefined) throw notFound(what);
  return id;
}
