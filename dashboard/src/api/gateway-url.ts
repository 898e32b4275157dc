import { useService } from './use-service.ts';

/** The URL of a gateway with default settings. */
const DEFAULT_URL = 'http://localhost:8081';

/**
 * The address where clients reach the gateway, without `/v1`; the default where the service does not know. Undefined while it is asked for.
 */
export function useGatewayUrl(): string | undefined {
  const { data, isPending } = useService();
  if (isPending) return undefined;
  if (!data) return DEFAULT_URL;
  if (data.gateway_url !== null) return data.gateway_url;
  if (data.gateway_port === null) return DEFAULT_URL;
  // The service listens on every address: the name by which this page was reached leads to the gateway as well.
  return `${location.protocol}//${location.hostname}:${data.gateway_port}`;
}
