import type { OrganizationId, ProjectId } from '@gatehouse/contract';
import type { Transaction } from '@gatehouse/store';
import type { RecorderFor } from '../http/recorder.ts';
import { findProjects } from './find-projects.ts';
import { lockOrganization } from './lock-organization.ts';
import * as queries from './queries.ts';

export interface ByokFallbackSwitch {
  readonly project: Pick<queries.Project, 'id' | 'name'>;
  /** False when it was in this state. Then nothing is recorded. */
  readonly hasChanged: boolean;
}

/**
 * Switches whether requests of a project may go out with the platform's credentials after the organisation's own keys
 * failed, and records it. A request on the platform's credentials is paid from the organisation's balance, so only an
 * operator may do this. `reference` is the project's id, or its name in any spelling. Returns the projects that have the
 * name where that is not exactly one.
 */
export async function switchByokFallback(
  tx: Transaction,
  {
    organizationId,
    reference,
    isOn,
  }: { readonly organizationId: OrganizationId; readonly reference: string; readonly isOn: boolean },
  recorderFor: RecorderFor<'project.byok_fallback_enabled' | 'project.byok_fallback_disabled'>,
): Promise<ByokFallbackSwitch | { readonly candidates: readonly ProjectId[] }> {
  await lockOrganization(tx, organizationId);
  const [project, ...others] = await findProjects(tx, organizationId, reference);
  if (!project) return { candidates: [] };
  if (others.length > 0) return { candidates: [project, ...others].map(({ id }) => id) };
  const hasChanged = project.byokFallback !== isOn;
  if (hasChanged) {
    await tx.run(queries.updateByokFallback, { organizationId, projectId: project.id, isOn });
    const record = recorderFor({ organizationId, actorUserId: null });
    await record(tx, isOn ? 'project.byok_fallback_enabled' : 'project.byok_fallback_disabled', project.name);
  }
  return { project, hasChanged };
}
