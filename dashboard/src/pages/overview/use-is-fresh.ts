import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { apiCall, queryOf } from '../../api/call.ts';
import { toast } from '../../ui/toast.tsx';

/** A call over all time: the longest window of the API. */
const call = apiCall('getBreakdown', { group_by: 'status', limit: 1, time_range: '3650d' });
const POLL_MS = 2000;

/**
 * True if the organisation never made a request. Asked only where the window shown has none, and then again and again, so that the first
 * request appears by itself.
 */
export function useIsFresh(isSuspected: boolean): boolean {
  const { data } = useQuery({
    ...queryOf(call),
    enabled: isSuspected,
    refetchInterval: ({ state }) => (state.data?.total.requests === 0 ? POLL_MS : false),
  });
  const isFresh = isSuspected && data?.total.requests === 0;
  const queries = useQueryClient();
  const wasFresh = useRef(false);
  const hasArrived = data !== undefined && data.total.requests > 0;
  useEffect(() => {
    if (wasFresh.current && hasArrived) {
      toast('The first request has arrived.');
      void queries.invalidateQueries();
    }
    wasFresh.current = isFresh;
  }, [isFresh, hasArrived, queries]);
  return isFresh;
}
