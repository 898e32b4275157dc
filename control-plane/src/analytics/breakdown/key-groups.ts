import { type analytics, badRequest, type KeyId, type OrganizationId } from '@gatehouse/contract';
import type { Database } from '@gatehouse/store';
import { listKeyProperties } from '../queries.ts';
import type { QuerySession } from '../query-session.ts';
import type { Scope } from '../telemetry.ts';
import { type Groups, type KeyProperty, type KeysByLabel, listUsedKeys, MAX_KEYS } from './telemetry.ts';

/** Finds the groups of a query. Throws 400 where more keys made requests than can be looked up. */
export async function findGroups(
  session: QuerySession,
  database: Database,
  scope: Scope,
  grouping: analytics.BreakdownGrouping,
): Promise<Groups> {
  if (grouping.by !== 'environment' && grouping.by !== 'member') return grouping;
  return { by: grouping.by, keys: await findKeys(session, database, scope, grouping.by) };
}

/** The request log has keys only, so those that made requests are looked up: a key has its environment and its member for good. */
export async function findKeys(
  session: QuerySession,
  database: Database,
  scope: Scope,
  property: KeyProperty,
): Promise<KeysByLabel> {
  const { used } = await session.row(listUsedKeys(scope));
  if (used.length > MAX_KEYS) {
    throw badRequest(
      `More than ${MAX_KEYS} keys made requests in this window. Grouping by ${property} needs a shorter window or a project_id.`,
    );
  }
  return keysByLabel(database, scope.organizationId, used, property);
}

async function keysByLabel(
  database: Database,
  organizationId: OrganizationId,
  ids: readonly string[],
  property: KeyProperty,
): Promise<KeysByLabel> {
  const rows = ids.length === 0 ? [] : await database.many(listKeyProperties, { organizationId, ids });
  const keys = new Map<string, KeyId[]>();
  for (const { id, [property]: label } of rows) {
    if (label === null) continue;
    const others = keys.get(label);
    if (others) others.push(id);
    else keys.set(label, [id]);
  }
  return keys;
}
