import { changeName } from '@gatehouse/control-plane/organization';
import type { Context } from '../../terminal/command.ts';
import { CommandError } from '../../terminal/errors.ts';
import { print, shown } from '../../terminal/output.ts';
import { change, requireOrganization, withDatabase } from '../database.ts';
import { operator } from '../operator.ts';
import { readName } from './name.ts';

export function renameOrg(
  args: { readonly org: string; readonly name: string },
  context: Context,
): Promise<number> {
  const name = readName('--name', args.name);
  return withDatabase(context, async (database) => {
    const organization = await requireOrganization(database, args.org);
    const record = operator({ organizationId: organization.id, actorUserId: null });
    const isDone = await change('gatehouse org list', () =>
      changeName(database, organization.id, name, record),
    );
    if (!isDone) throw new CommandError(`another organisation has the name ${JSON.stringify(name.name)}`);
    print(
      context,
      { organization: { id: organization.id, name: name.name }, previous_name: organization.name },
      [`${shown(organization.name)} is now called ${shown(name.name)}.`],
    );
    return 0;
  });
}
