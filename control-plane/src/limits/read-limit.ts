import { notFound } from '@gatehouse/contract';
import type { Queryable } from '@gatehouse/store';
import { type LimitOfOrganization, type LimitRow, listLimits } from './queries.ts';

/** The organisation's own limit. Throws the 404 of one that it does not have. */
export async function readLimit(database: Queryable, limit: LimitOfOrganization): Promise<LimitRow> {
  const row = await database.one(listLimits, limit);
  if (!row) throw notFound('Spend limit');
  return row;
}
