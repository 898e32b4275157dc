import { badRequest, conflict, organization } from '@gatehouse/contract';
import { type Database, isUniqueViolation } from '@gatehouse/store';
import { withSession } from '../http/implement.ts';
import * as queries from './queries.ts';
import { organizationName } from './rules.ts';

export function renameOrganization(database: Database) {
  return withSession(organization.renameOrganization, async ({ body, record }, session) => {
    const name = organizationName(body.name);
    if ('issue' in name) throw badRequest(name.issue);

    await database
      .transaction(async (tx) => {
        // Only the unique index sees a name that another transaction is taking at the same time.
        await tx.run(queries.updateOrganizationName, {
          organizationId: session.organizationId,
          name: name.name,
          nameKey: name.key,
        });
        await record(tx, 'org.renamed', name.name);
      })
      .catch((error: unknown) => {
        if (!isUniqueViolation(error, 'organizations_name_key_unique')) throw error;
        throw conflict('Another organisation has this name.');
      });
    return { body: { id: session.organizationId, name: name.name } };
  });
}
