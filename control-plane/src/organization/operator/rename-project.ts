import type { OrganizationId, ProjectId } from '@gatehouse/contract';
import type { Transaction } from '@gatehouse/store';
import type { RecorderFor } from '../../http/recorder.ts';
import { findProjects } from '../find-projects.ts';
import { lockOrganization } from '../lock-organization.ts';
import { listProjects, type Project } from '../queries.ts';
import { nameKey } from '../rules.ts';
import * as queries from './queries.ts';

export type ProjectRename =
  /** The project as it was called before. */
  | { readonly renamed: Project }
  /** Another project of the organisation has the name, in any spelling. */
  | { readonly existing: Project }
  /** The projects that the reference may mean, where that is not one. */
  | { readonly candidates: readonly ProjectId[] };

/** Gives a project another name and records it. `reference` is its id, or its name in any spelling. */
export async function renameProject(
  tx: Transaction,
  given: { readonly organizationId: OrganizationId; readonly reference: string; readonly name: string },
  recorderFor: RecorderFor<'project.renamed'>,
): Promise<ProjectRename> {
  const { organizationId, reference, name } = given;
  await lockOrganization(tx, organizationId);
  const [project, ...others] = await findProjects(tx, organizationId, reference);
  if (!project) return { candidates: [] };
  if (others.length > 0) return { candidates: [project, ...others].map(({ id }) => id) };
  const key = nameKey(name);
  const all = await tx.many(listProjects, { organizationId });
  const existing = all.find((one) => one.id !== project.id && nameKey(one.name) === key);
  if (existing) return { existing };
  await tx.run(queries.updateProjectName, { organizationId, projectId: project.id, name });
  await recorderFor({ organizationId, actorUserId: null })(tx, 'project.renamed', name);
  return { renamed: project };
}
