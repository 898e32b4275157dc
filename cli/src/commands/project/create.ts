import { createProject, projectName } from '@gatehouse/control-plane';
import type { Context } from '../command.ts';
import { change, requireOrganization, withDatabase } from '../database.ts';
import { CommandFault, notAccepted } from '../faults.ts';
import { print } from '../output.ts';

export async function createOrgProject(
  given: { readonly org: string; readonly name: string },
  context: Context,
): Promise<number> {
  const name = projectName(given.name);
  if (typeof name !== 'string') {
    throw notAccepted('--name', given.name, `one line of 1 to 255 characters (${name.issue})`);
  }
  return withDatabase(context, async (database) => {
    const organization = await requireOrganization(database, given.org);
    const made = await change('gatehouse org show', () =>
      database.transaction((tx) => createProject(tx, organization.id, name)),
    );
    if ('existing' in made) {
      throw new CommandFault(
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
