import { ApiError, notFound } from '@gatehouse/contract';

/** The address where clients reach the gateway, as far as the control plane knows. Both may change until the gateway listens. */
export interface GatewayAddress {
  readonly url: () => string | undefined;
  readonly port: () => number | undefined;
}

const GATEWAY_PATH = /^\/v1(\/|$)/;
const pathNotFound = notFound('Path');

/** 404 for a path that the API does not have. A client that takes it for the gateway learns where that is. */
export function unknownPath(path: string, gateway: GatewayAddress): ApiError {
  if (!GATEWAY_PATH.test(path)) return pathNotFound;
  return new ApiError(404, {
    error: `Path not found. This is the API; model requests go to ${gatewayInWords(gateway)}.`,
  });
}

/** `the gateway at http://127.0.0.1:8081/v1`: what GET /service says of it. */
export function gatewayInWords({ url, port }: GatewayAddress): string {
  const base = url();
  if (base !== undefined) return `the gateway at ${base}/v1`;
  const known = port();
  return known === undefined
    ? 'the gateway, which has an address of its own'
    : `the gateway on port ${known}, below /v1`;
}
