import type { OrganizationId } from '@gatehouse/contract';
import type { Database } from '@gatehouse/store';
import { listKeyNames, listMemberNames, listProjectNames } from './queries.ts';

/** Names by id. An id of a deleted or revoked thing has none. */
export interface Names {
  readonly keys: ReadonlyMap<string, string>;
  readonly projects: ReadonlyMap<string, string>;
}

/** The names of what a member of the API's entry refers to. */
export function namesOf(names: Names, member: string): ReadonlyMap<string, string> {
  return member === 'key' ? names.keys : names.projects;
}

/** The ids in a row that have names. */
interface Attributed {
  readonly key_id: string | null;
  readonly project_id: string | null;
}

/** The names that the keys and projects of the rows have now. */
export function findNames(
  database: Database,
  organizationId: OrganizationId,
  rows: readonly Attributed[],
): Promise<Names> {
  return openNames(database, organizationId)(rows);
}

/** Finds the names of one batch of rows after another. Each id is looked up once and keeps the name it had then. */
export function openNames(
  database: Database,
  organizationId: OrganizationId,
): (rows: readonly Attributed[]) => Promise<Names> {
  const names = { keys: new Map<string, string>(), projects: new Map<string, string>() };
  const lookedUp = new Set<string>();
  const newIds = (ids: (string | null)[]) => [
    ...new Set(ids.flatMap((id) => (id === null || lookedUp.has(id) ? [] : [id]))),
  ];
  return async (rows) => {
    const keyIds = newIds(rows.map((row) => row.key_id));
    const projectIds = newIds(rows.map((row) => row.project_id));
    const [keys, projects] = await Promise.all([
      keyIds.length === 0 ? [] : database.many(listKeyNames, { organizationId, ids: keyIds }),
      projectIds.length === 0 ? [] : database.many(listProjectNames, { organizationId, ids: projectIds }),
    ]);
    for (const id of [...keyIds, ...projectIds]) lookedUp.add(id);
    for (const { id, name } of keys) names.keys.set(id, name);
    for (const { id, name } of projects) names.projects.set(id, name);
    return names;
  };
}

/** The names of the groups of a report: the current names of keys and projects, the e-mails of members, and of anything else the group itself. */
export async function findGroupNames(
  database: Database,
  organizationId: OrganizationId,
  grouping: string,
  groups: readonly (string | null)[],
): Promise<(group: string | null) => string | null> {
  if (grouping === 'member') {
    const ids = groups.filter((id) => id !== null);
    const members = ids.length === 0 ? [] : await database.many(listMemberNames, { organizationId, ids });
    const emails = new Map<string, string>(members.map(({ id, name }) => [id, name]));
    return (group) => (group === null ? null : (emails.get(group) ?? null));
  }
  if (grouping !== 'key' && grouping !== 'project') return (group) => group;
  const rows = groups.map((id) => ({
    key_id: grouping === 'key' ? id : null,
    project_id: grouping === 'project' ? id : null,
  }));
  const found = namesOf(await findNames(database, organizationId, rows), grouping);
  return (group) => (group === null ? null : (found.get(group) ?? null));
}
