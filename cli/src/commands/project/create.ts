import { createProject, projectName } from '@gatehouse/control-plane/organization';
import type { Context } from '../../terminal/command.ts';
import { CommandError, invalidValue } from '../../terminal/errors.ts';
import { print } from '../../terminal/output.ts';
import { change, requireOrganization, withDatabase } from '../database.ts';

export async function createOrgProject(
  args: { readonly org: string; readonly name: string },
  context: Context,
): Promise<number> {
  const name = projectName(args.name);
  if (typeof name !== 'string') {
    throw invalidValue('--name', args.name, `one line of 1 to 255 characters (${name.issue})`);
  }
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
