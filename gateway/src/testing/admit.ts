import type { OrganizationId } from '@gatehouse/contract';
import type { Queryable } from '@gatehouse/store';
import { type Admission, type AdmissionDecision, admitBatch, type FinishedHold } from '../credit/queries.ts';

/** A request of an organisation that is named beside it. */
export type AdmissionOfOne = Omit<Admission, 'organizationId'>;
export type FinishedOfOne = Omit<FinishedHold, 'organizationId'>;

/** Judges requests of one organisation in one statement, after lowering the holds of its finished ones. */
export function admit(
  database: Queryable,
  organizationId: OrganizationId,
  admissions: readonly AdmissionOfOne[],
  finished: readonly FinishedOfOne[] = [],
): Promise<AdmissionDecision[]> {
  return admitBatch(database, {
    admissions: admissions.map((one) => ({ ...one, organizationId })),
    finished: finished.map((one) => ({ ...one, organizationId })),
  });
}
