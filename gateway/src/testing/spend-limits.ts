import type { OrganizationId, SpendMode, SpendScopeKind, SpendWindow } from '@gatehouse/contract';
import { type Database, sql, statement } from '@gatehouse/store';
import { only } from './test-gateway.ts';

/** A spend limit of a test; of the whole organisation, for ever, and refusing, unless it says otherwise. */
export interface TestLimit {
  readonly kind?: SpendScopeKind;
  readonly scopeId?: string;
  readonly name?: string;
  readonly value?: string | null;
  readonly window?: SpendWindow;
  readonly timeZone?: string;
  readonly microPkr: bigint;
  readonly mode?: SpendMode;
  /** Per cent. */
  readonly alertAt?: readonly number[];
}

const insertLimit = statement<
  {
    organizationId: OrganizationId;
    kind: SpendScopeKind;
    scopeId: string | null;
    name: string | null;
    value: string | null;
    window: SpendWindow;
    timeZone: string;
    microPkr: bigint;
    mode: SpendMode;
    alertAt: readonly number[];
  },
  { id: string }
>(
  'gateway-test-insert-spend-limit',
  sql`
    WITH b AS (UPDATE balances SET spend_limits = spend_limits + 1 WHERE organization_id = ${'organizationId'})
    INSERT INTO spend_limits (organization_id, scope_kind, scope_id, metadata_name, metadata_value, time_window, time_zone,
                              limit_micro_pkr, mode, alert_at)
    VALUES (${'organizationId'}, ${'kind'}, ${'scopeId'}, ${'name'}, ${'value'}, ${'window'}, ${'timeZone'}, ${'microPkr'},
            ${'mode'}, ${'alertAt'})
    RETURNING id`,
);

/** Makes a spend limit and returns its id. */
export async function addLimit(
  database: Database,
  organizationId: OrganizationId,
  limit: TestLimit,
): Promise<string> {
  const { kind = 'organization', scopeId = null, name = null, value = null } = limit;
  const { window = 'lifetime', timeZone = 'UTC', microPkr, mode = 'refuse', alertAt = [] } = limit;
  const row = { organizationId, kind, scopeId, name, value, window, timeZone, microPkr, mode, alertAt };
  return (await only(database, insertLimit, row)).id;
}
