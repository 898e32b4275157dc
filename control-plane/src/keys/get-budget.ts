import { keys, pkrNumber } from '@gatehouse/contract';
import type { Database } from '@gatehouse/store';
import { withSession } from '../http/implement.ts';
import { type BudgetRow, listBudget } from './queries.ts';
import { headroom } from './rules.ts';

export function getBudget(database: Database) {
  return withSession(keys.getBudget, async ({ query: { limit, offset } }, { organizationId }) => {
    const rows = await database.many(listBudget, { organizationId, limit, offset });
    const [sums] = rows;
    if (!sums) throw new Error(`organisation ${organizationId} has no balance`);
    const { depositedMicroPkr, spentMicroPkr, heldMicroPkr, keyLimitsMicroPkr } = sums;
    return {
      body: {
        deposited_pkr: pkrNumber(depositedMicroPkr),
        spent_pkr: pkrNumber(spentMicroPkr),
        held_pkr: pkrNumber(heldMicroPkr),
        available_pkr: pkrNumber(depositedMicroPkr - spentMicroPkr - heldMicroPkr),
        key_limits_pkr: pkrNumber(keyLimitsMicroPkr),
        headroom_pkr: pkrNumber(
          headroom({ budgetMicroPkr: depositedMicroPkr, otherLimitsMicroPkr: keyLimitsMicroPkr }),
        ),
        revoked_keys: {
          spent_pkr: pkrNumber(spentMicroPkr - sums.keySpentMicroPkr),
          held_pkr: pkrNumber(heldMicroPkr - sums.keyHeldMicroPkr),
        },
        total: Number(sums.activeKeys),
        limit,
        offset,
        keys: rows.flatMap(keyEntry),
      },
    };
  });
}

function keyEntry(row: BudgetRow) {
  if (row.id === null) return [];
  const { id, name, keyPrefix, projectId, projectName, limitMicroPkr } = row;
  return [
    {
      id,
      name,
      key_prefix: keyPrefix,
      project: { id: projectId, name: projectName },
      unlimited: limitMicroPkr === null,
      credit_limit_pkr: limitMicroPkr === null ? null : pkrNumber(limitMicroPkr),
      spent_pkr: pkrNumber(row.ownSpentMicroPkr),
      held_pkr: pkrNumber(row.ownHeldMicroPkr),
    },
  ];
}
