import { type Duration, notFound } from '@gatehouse/contract';
import type { Database } from '@gatehouse/store';
import type { Session } from '../http/implement.ts';
import { findOwnedKey, findOwnedProject } from '../keys/index.ts';
import type { Scope } from './telemetry.ts';

/** The filters that every question of the section takes, parsed. */
export interface ScopeQuery {
  readonly time_range: Duration;
  readonly project_id?: string | undefined;
  readonly key_id?: string | undefined;
}

/**
 * Turns the common filters into what is looked at, as of `nowMicros`. Throws 404 for a project or key that is not the
 * organisation's; this is asked of PostgreSQL, so it is answered the same while the telemetry store is away.
 */
export async function findScope(
  database: Database,
  session: Session,
  query: ScopeQuery,
  model: string | undefined,
  nowMicros: bigint,
): Promise<Scope> {
  const { organizationId } = session;
  const [projectId, keyId] = await Promise.all([
    query.project_id === undefined
      ? undefined
      : found('Project', findOwnedProject(database, organizationId, query.project_id)),
    query.key_id === undefined
      ? undefined
      : found('Key', findOwnedKey(database, organizationId, query.key_id)),
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

async function found<T>(what: string, look: Promise<T | undefined>): Promise<T> {
  const id = await look;
  if (id === undefined) throw notFound(what);
  return id;
}
