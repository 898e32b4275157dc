import { badRequest, notFound, spendLimits } from '@gatehouse/contract';
import type { Database } from '@gatehouse/store';
import { withSession } from '../http/implement.ts';
import { limitFields, limitIdFromText, limitInWords } from './limit-fields.ts';
import * as queries from './queries.ts';
import { readLimit } from './read-limit.ts';

/** A request that is admitted after the commit is judged by the new figures; the window goes on. */
export function updateSpendLimit(database: Database) {
  return withSession(spendLimits.updateSpendLimit, async ({ params, body, record }, { organizationId }) => {
    const limitId = limitIdFromText(params['limit_id'] ?? '');
    if (limitId === undefined) throw notFound('Spend limit');
    const { limit_pkr: limitMicroPkr = null, mode = null, alert_at: alertAt = null } = body;
    if (limitMicroPkr === null && mode === null && alertAt === null)
      throw badRequest('Nothing is given to change: send limit_pkr, mode or alert_at.');
    const row = await database.transaction(async (tx) => {
      const limit = { organizationId, limitId };
      await tx.one(queries.countUnderLock, { organizationId });
      if (!(await tx.one(queries.updateLimit, { ...limit, limitMicroPkr, mode, alertAt })))
        throw notFound('Spend limit');
      await tx.run(queries.planAlerts, limit);
      const updated = await readLimit(tx, limit);
      await record(tx, 'spend_limit.updated', limitInWords(updated));
      return updated;
    });
    return { body: limitFields(row) };
  });
}
