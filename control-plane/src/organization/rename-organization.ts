import { badRequest, conflict, type OrganizationId, organization } from '@gatehouse/contract';
import { type Database, isUniqueViolation } from '@gatehouse/store';
import { withSession } from '../http/implement.ts';
import type { Recorder } from '../http/recorder.ts';
import * as queries from './queries.ts';
import { type OrganizationName, organizationName } from './rules.ts';

export function renameOrganization(database: Database) {
  return withSession(organization.renameOrganization, async ({ body, record }, session) => {
    const name = organizationName(body.name);
    if ('issue' in name) throw badRequest(name.issue);

    if (!(await changeName(database, session.organizationId, name, record)))
      throw conflict('Another organisation has this name.');
    return { body: { id: session.organizationId, name: name.name } };
  });
}

/** Gives the organisation another name and records it. False where another one has the name. */
export async function changeName(
  database: Database,
  organizationId: OrganizationId,
  name: OrganizationName,
  record: Recorder<'org.renamed'>,
): Promise<boolean> {
  try {
    await database.transaction(async (tx) => {
      // Only the unique index sees a name that another transaction is taking at the same time.
      await tx.run(queries.updateOrganizationName, { organizationId, name: name.name, nameKey: name.key });
      await record(tx, 'org.renamed', name.name);
    });
    return true;
  } catch (error) {
    if (!isUniqueViolation(error, 'organizations_name_key_unique')) throw error;
    return false;
  }
}
