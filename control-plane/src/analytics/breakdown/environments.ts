import { type analytics, badRequest, type KeyId, type OrganizationId } from '@gatehouse/contract';
import type { Database } from '@gatehouse/store';
import { listKeyEnvironments } from '../queries.ts';
import type { QuerySession } from '../query-session.ts';
import type { Scope } from '../telemetry.ts';
import { type Groups, listUsedKeys, MAX_KEYS } from './telemetry.ts';

/**
 * Finds the groups of a query. The request log has no environments, so the keys that made requests are looked up: a key has one for good.
 * Throws 400 where they are too many.
 */
export async function findGroups(
  session: QuerySession,
  database: Database,
  scope: Scope,
  grouping: analytics.BreakdownGrouping,
): Promise<Groups> {
  if (grouping.by !== 'environment') return grouping;
  const { used } = await session.row(listUsedKeys(scope));
  if (used.length > MAX_KEYS) {
    throw badRequest(
      `More than ${MAX_KEYS} keys made requests in this window. Grouping by environment needs a shorter window or a project_id.`,
    );
  }
  return { by: 'environment', keys: await keysByEnvironment(database, scope.organizationId, used) };
}

async function keysByEnvironment(
  database: Database,
  organizationId: OrganizationId,
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly KeyId[]>> {
  const rows = ids.length === 0 ? [] : await database.many(listKeyEnvironments, { organizationId, ids });
  const keys = new Map<string, KeyId[]>();
  for (const { id, environment } of rows) {
    const others = keys.get(environment);
    if (others) others.push(id);
    else keys.set(environment, [id]);
  }
  return keys;
}
