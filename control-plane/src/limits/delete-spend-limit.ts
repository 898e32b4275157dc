import { notFound, spendLimits } from '@gatehouse/contract';
import type { Database } from '@gatehouse/store';
import { withSession } from '../http/implement.ts';
import { limitIdFromText, limitInWords } from './limit-fields.ts';
import * as queries from './queries.ts';
import { readLimit } from './read-limit.ts';

export function deleteSpendLimit(database: Database) {
  return withSession(spendLimits.deleteSpendLimit, async ({ params, record }, { organizationId }) => {
    const limitId = limitIdFromText(params['limit_id'] ?? '');
    if (limitId === undefined) throw notFound('Spend limit');
    const words = await database.transaction(async (tx) => {
      const limit = { organizationId, limitId };
      await tx.one(queries.countUnderLock, { organizationId });
      const target = limitInWords(await readLimit(tx, limit));
      await tx.run(queries.deleteLimit, limit);
      await tx.run(queries.changeCount, { organizationId, change: -1 });
      await record(tx, 'spend_limit.deleted', target);
      return target;
    });
    return { body: { message: `The spend limit is deleted: ${words}.` } };
  });
}
