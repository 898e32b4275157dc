import type { GetBudgetReply, Key, KeyBudget } from '@gatehouse/sdk';
import { useQueries, useQuery, useQueryClient } from '@tanstack/react-query';
import { apiCall, queryOf } from '../../api/call.ts';
import { keysCall } from '../../api/filter-options.ts';

/** The most that one page of `getBudget` has. */
const PAGE = 200;

export const budgetCall = (offset: number) => apiCall('getBudget', { limit: PAGE, offset });

/** A key with its credit. The credit is undefined while it loads. */
export interface KeyRow extends Key {
  readonly budget: KeyBudget | undefined;
}

/** Every active key with its credit: `listKeys` has them all, `getBudget` has pages, and as many are read as it takes. */
export function useKeys() {
  const list = useQuery(queryOf(keysCall));
  const pages = Math.max(1, Math.ceil((list.data?.keys.length ?? 0) / PAGE));
  const budgets = useQueries({
    queries: Array.from({ length: pages }, (_, index) => queryOf(budgetCall(index * PAGE))),
  });
  const byId = new Map(budgets.flatMap(({ data }) => data?.keys ?? []).map((key) => [key.id, key]));
  const rows: readonly KeyRow[] | undefined = list.data?.keys.map((key) => ({
    ...key,
    budget: byId.get(key.id),
  }));
  return {
    rows,
    organization: budgets[0]?.data as GetBudgetReply | undefined,
    error: list.error,
    budgetError: budgets.find(({ error }) => error !== null)?.error,
    isBudgetLoading: budgets.some(({ data, error }) => data === undefined && error === null),
    refetch: () => Promise.all([list.refetch(), ...budgets.map((budget) => budget.refetch())]),
  };
}

/** After a change of a key: everything that shows keys is read again. */
export function useKeysChanged(): () => Promise<void> {
  const queries = useQueryClient();
  return async () => {
    await Promise.all(
      ['listKeys', 'getBudget', 'listActivity'].map((name) =>
        queries.invalidateQueries({ queryKey: [name] }),
      ),
    );
  };
}
