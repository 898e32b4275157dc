import { useQuery } from '@tanstack/react-query';
import { apiCall, queryOf } from './call.ts';

/** The facts that the service tells anyone: how to sign in, and where the gateway is. */
export function useService() {
  return useQuery({ ...queryOf(apiCall('getService', {})), staleTime: 300_000 });
}
