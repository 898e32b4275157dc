import type { ActivityAction } from '@gatehouse/contract';
import type { RecorderFor } from '../http/recorder.ts';
import * as queries from './queries.ts';

/**
 * Records events that come from this address. An endpoint gets its recorder with the request, limited to the events
 * that it declares; an operator's command takes it from here.
 */
export function recordsFrom(sourceIp: string): RecorderFor<ActivityAction> {
  return (subject) => async (tx, action, target) => {
    await tx.run(queries.appendEvent, { ...subject, action, target, sourceIp });
  };
}
