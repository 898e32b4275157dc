import { isStorableText } from '@gatehouse/contract';
import { renameProject } from '@gatehouse/control-plane/organization';
import type { Context } from '../../terminal/command.ts';
import { CommandError } from '../../terminal/errors.ts';
import { print, shown } from '../../terminal/output.ts';
import { change, noSingleProject, requireOrganization, withDatabase } from '../database.ts';
import { operator } from '../operator.ts';
import { readProjectName } from './name.ts';

export function renameOrgProject(
  args: { readonly org: string; readonly project: string; readonly name: string },
  context: Context,
): Promise<number> {
  const name = readProjectName(args.name);
  return withDatabase(context, async (database) => {
    const organization = await requireOrganization(database, args.org);
    const { id: organizationId } = organization;
    const reference = args.project;
    const done = isStorableText(reference)
      ? await change('gatehouse project list', () =>
          database.transaction((tx) => renameProject(tx, { organizationId, reference, name }, operator)),
        )
      : { candidates: [] };
    if ('candidates' in done) throw noSingleProject(organization, reference, done.candidates);
    if ('existing' in done) {
      throw new CommandError(
        `${organization.name} has a project named ${JSON.stringify(done.existing.name)} already: ${done.existing.id}`,
      );
    }
    const { id, name: before } = done.renamed;
    print(context, { organization, project: { id, name }, previous_name: before }, [
      `${shown(before)} is now called ${shown(name)}.`,
    ]);
    return 0;
  });
}
