import { listAllProjects } from '@gatehouse/control-plane/organization';
import type { Context } from '../../terminal/command.ts';
import { columns, minute, print, shown } from '../../terminal/output.ts';
import { requireOrganization, withDatabase } from '../database.ts';

export function listOrgProjects(reference: string, context: Context): Promise<number> {
  return withDatabase(context, async (database) => {
    const organization = await requireOrganization(database, reference);
    const projects = await listAllProjects(database, organization.id);
    print(
      context,
      {
        organization,
        projects: projects.map(({ id, name, createdAt, byokFallback }) => ({
          ...{ id, name, created_at: createdAt, byok_fallback: byokFallback },
        })),
      },
      columns([
        ['ID', 'NAME', 'FALLBACK', 'CREATED (UTC)'],
        ...projects.map(({ id, name, createdAt, byokFallback }) => [
          ...[id, shown(name), byokFallback ? 'on' : 'off', minute(createdAt)],
        ]),
      ]),
    );
    return 0;
  });
}
