import { createProject } from '@gatehouse/control-plane/organization';
import type { Context } from '../../terminal/command.ts';
import { CommandError } from '../../terminal/errors.ts';
import { print } from '../../terminal/output.ts';
import { change, requireOrganization, withDatabase } from '../database.ts';
import { readProjectName } from './name.ts';

export async function createOrgProject(
  args: { readonly org: string; readonly name: string },
  context: Context,
): Promise<number> {
  const name = readProjectName(args.name);
  return withDatabase(context, async (database) => {
    const organization = await requireOrganization(database, args.org);
    const made = await change('gatehouse org show', () =>
      database.transaction((tx) => createProject(tx, organization.id, name)),
    );
    if ('existing' in made) {
      throw new CommandError(
        `${organization.name} has a project named ${JSON.stringify(made.existing.name)} already: ${made.existing.id}`,
      );
    }
    const project = made.created;
    // The id alone, so that a script can take it as it comes.
    print(
      context,
      {
        organization,
        project: { id: project.id, name: project.name, created_at: project.createdAt },
      },
      [project.id],
    );
    return 0;
  });
}
