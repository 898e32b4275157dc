import { spendLimits } from '@gatehouse/contract';
import type { Database } from '@gatehouse/store';
import { withSession } from '../http/implement.ts';
import { limitFields } from './limit-fields.ts';
import { listLimits } from './queries.ts';

export function listSpendLimits(database: Database) {
  return withSession(spendLimits.listSpendLimits, async (_, { organizationId }) => {
    const rows = await database.many(listLimits, { organizationId, limitId: null });
    return { body: { limits: rows.map(limitFields) } };
  });
}
