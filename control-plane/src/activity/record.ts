import type { ActivityAction } from '@gatehouse/contract';
import type { RecorderFor } from '../http/recorder.ts';
import * as queries from './queries.ts';

/**
 * Records events that come from this address. Endpoints get theirs with the request, limited to the events that they
 * declare; an operator's commands take it from here.
 */
export function recordsFrom(sourceIp: string): RecorderFor<ActivityAction> {
  return ({ organizationId, actorUserId }) =>
    async (tx, action, target) => {
      await tx.run(queries.appendEvent, [organizationId, actorUserId, action, target, sourceIp]);
    };
}
