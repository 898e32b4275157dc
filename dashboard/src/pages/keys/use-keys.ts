import type { GetBudgetReply, Key, KeyBudget } from '@gatehouse/sdk';
import { type UseQueryResult, useQueries, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { apiCall, queryOf } from '../../api/call.ts';
import { readAgain } from '../../api/query-client.ts';
import { keysCall } from '../../app/filter-options.ts';

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
  const keys = list.data?.keys;
  const pages = Math.max(1, Math.ceil((keys?.length ?? 0) / PAGE));
  const budgets = useQueries({
    queries: Array.from({ length: pages }, (_, index) => queryOf(budgetCall(index * PAGE))),
    combine: combined,
  });
  const { byId } = budgets;
  // The same rows until one of the answers changes: a table of hundreds makes them again otherwise.
  const rows: readonly KeyRow[] | undefined = useMemo(
    () => keys?.map((key) => ({ ...key, budget: byId.get(key.id) })),
    [keys, byId],
  );
  return {
    ...budgets,
    rows,
    error: list.error,
    refetch: () => Promise.all([list.refetch(), budgets.refetchBudgets()]),
  };
}

function combined(pages: readonly UseQueryResult<GetBudgetReply>[]) {
  return {
    organization: pages[0]?.data,
    byId: new Map(pages.flatMap(({ data }) => data?.keys ?? []).map((key) => [key.id, key])),
    budgetError: pages.find(({ error }) => error !== null)?.error,
    isBudgetLoading: pages.some(({ data, error }) => data === undefined && error === null),
    refetchBudgets: () => Promise.all(pages.map((page) => page.refetch())),
  };
}

/** After a change of a key: everything that shows keys is read again. */
export function keysChanged(): Promise<void> {
  return readAgain('listKeys', 'getKey', 'getBudget', 'listActivity');
}
