import {
  badRequest,
  conflict,
  MAX_SPEND_LIMITS,
  notFound,
  type OrganizationId,
  type SpendScopeKind,
  spendLimits,
  uuidFromText,
} from '@gatehouse/contract';
import type { Database, Transaction } from '@gatehouse/store';
import { withSession } from '../http/implement.ts';
import { limitFields, limitInWords } from './limit-fields.ts';
import * as queries from './queries.ts';
import { readLimit } from './read-limit.ts';

const SCOPES_IN_WORDS: Partial<Record<SpendScopeKind, string>> = {
  project: 'Project',
  key: 'Key',
  member: 'Member',
};

export function createSpendLimit(database: Database) {
  return withSession(spendLimits.createSpendLimit, async ({ body, record }, { organizationId, userId }) => {
    const { scope, window } = body;
    const row = await database.transaction(async (tx) => {
      const scopeId = await findScope(tx, organizationId, scope);
      const zone = await tx.one(queries.findTimeZone, { name: body.time_zone });
      if (!zone) throw badRequest(`The database does not know the time zone ${body.time_zone}.`);
      const counted = await tx.one(queries.countUnderLock, { organizationId });
      if (!counted) throw new Error(`organisation ${organizationId} has no balance`);
      if (counted.spendLimits >= MAX_SPEND_LIMITS)
        throw conflict(
          `An organisation can have ${MAX_SPEND_LIMITS} spend limits, and this one has as many. Delete one that is no longer used, then make this one.`,
        );
      const inserted = await tx.one(queries.insertLimit, {
        organizationId,
        scopeKind: scope.kind,
        scopeId,
        metadataName: scope.kind === 'metadata' ? (scope.name ?? null) : null,
        metadataValue: scope.kind === 'metadata' ? (scope.value ?? null) : null,
        timeWindow: window,
        timeZone: zone.name,
        limitMicroPkr: body.limit_pkr,
        mode: body.mode,
        alertAt: body.alert_at,
        createdBy: userId,
      });
      if (!inserted) throw new Error('an inserted spend limit has no id');
      await tx.run(queries.changeCount, { organizationId, change: 1 });
      const created = await readLimit(tx, { organizationId, limitId: inserted.id });
      await record(tx, 'spend_limit.created', limitInWords(created));
      return created;
    });
    return { body: limitFields(row) };
  });
}

/** The id of the organisation's own project, key or member; null for a scope that has none. */
async function findScope(
  tx: Transaction,
  organizationId: OrganizationId,
  { kind, id }: { readonly kind: SpendScopeKind; readonly id?: string | undefined },
): Promise<string | null> {
  const what = SCOPES_IN_WORDS[kind];
  if (what === undefined) return null;
  const scopeId = uuidFromText(id ?? '');
  const found = scopeId && (await tx.one(queries.findScope, { organizationId, kind, scopeId }));
  if (!found) throw notFound(what);
  return found.id;
}
