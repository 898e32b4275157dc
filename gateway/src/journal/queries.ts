import type { KeyId, OrganizationId, RequestId } from '@gatehouse/contract';
import { type NoParameters, sql, statement } from '@gatehouse/store';

// Settling and releasing are one statement each, so that admissions of the same keys wait for the server only, and never for this process.

// store/src/postgres/functions/settle.sql says what it does. Returns the requests of closed weeks.
export const settleRequests = statement<
  {
    requestIds: readonly RequestId[];
    organizationIds: readonly OrganizationId[];
    keyIds: readonly KeyId[];
    costsMicroPkr: readonly bigint[];
    windowIds: readonly (string | null)[];
    arePositioned: readonly boolean[];
    origins: readonly string[] | null;
    sequences: readonly number[] | null;
    ends: readonly number[] | null;
    settledOrigins: readonly string[];
    settledSequences: readonly number[];
    settledBytes: readonly number[];
  },
  { requestId: RequestId }
>(
  'journal-settle-requests',
  sql`
    SELECT request_id FROM settle(${'requestIds'}, ${'organizationIds'}, ${'keyIds'}, ${'costsMicroPkr'}, ${'windowIds'},
      ${'arePositioned'}, ${'origins'}, ${'sequences'}, ${'ends'}, ${'settledOrigins'}, ${'settledSequences'}, ${'settledBytes'}) AS late (request_id)`,
);

export const releaseOverdue = statement<{ limit: number }, { holds: bigint; amountMicroPkr: bigint }>(
  'journal-release-overdue-holds',
  sql`SELECT holds, amount_micro_pkr FROM release_overdue_holds(${'limit'})`,
);

// Finished requests whose records their node has not settled by the deadline. The amount is what each cost.
export const listOverdueFinalHolds = statement<
  { limit: number },
  {
    readonly requestId: RequestId;
    readonly organizationId: OrganizationId;
    readonly keyId: KeyId;
    readonly costMicroPkr: bigint;
  }
>(
  'journal-list-overdue-final-holds',
  sql`
    SELECT request_id, organization_id, key_id, amount_micro_pkr AS cost_micro_pkr
    FROM holds WHERE deadline < clock_timestamp() AND is_final
    ORDER BY deadline LIMIT ${'limit'}`,
);

export const isReachable = statement<NoParameters>('journal-is-reachable', sql`SELECT`);
