import { createOrganization } from '@gatehouse/control-plane/organization';
import type { Context } from '../../terminal/command.ts';
import { CommandError } from '../../terminal/errors.ts';
import { print } from '../../terminal/output.ts';
import { change, withDatabase } from '../database.ts';
import { operator } from '../operator.ts';
import { readName } from './name.ts';

export function createOrg({ name: given }: { readonly name: string }, context: Context): Promise<number> {
  const name = readName('NAME', given);
  return withDatabase(context, async (database) => {
    const id = await change('gatehouse org list', () =>
      database.transaction(async (tx) => {
        const organizationId = await createOrganization(tx, name);
        if (organizationId !== undefined)
          await operator({ organizationId, actorUserId: null })(tx, 'org.created', name.name);
        return organizationId;
      }),
    );
    if (id === undefined)
      throw new CommandError(`an organisation named ${JSON.stringify(name.name)} exists already`);
    // The id alone, so that a script can take it as it comes.
    print(context, { organization: { id, name: name.name } }, [id]);
    return 0;
  });
}
