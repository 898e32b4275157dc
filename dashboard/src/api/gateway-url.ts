import { useQuery } from '@tanstack/react-query';
import { apiCall, queryOf } from './call.ts';

export const serviceCall = apiCall('getService', {});

/** Where clients reach the gateway, without `/v1`. Undefined while it is asked for, or where the service does not know. */
export function useGatewayUrl(): string | undefined {
  const { data } = useQuery({ ...queryOf(serviceCall), staleTime: 300_000 });
  if (data === undefined) return undefined;
  if (data.gateway_url !== null) return data.gateway_url;
  if (data.gateway_port === null) return undefined;
  // The service listens on every address: the name by which this page was reached leads to the gateway as well.
  return `${location.protocol}//${location.hostname}:${data.gateway_port}`;
}
