import type { IncomingHttpHeaders } from 'node:http';
import { isServedHost, type ServedHosts } from '@gatehouse/http';
import type { Caller } from './caller.ts';

/**
 * The origin by which the browser addresses the service: `https://gatehouse.example.com`. A trusted proxy may say which with
 * X-Forwarded-Host, if the service is served under that name.
 */
export function ownOrigin(
  headers: IncomingHttpHeaders,
  { isPlainHttp, isFromProxy }: Caller,
  served: ServedHosts,
): string {
  const [forwarded] = [headers['x-forwarded-host']].flat();
  const isKnown = isFromProxy && forwarded !== undefined && isServedHost(forwarded, served);
  return `http${isPlainHttp ? '' : 's'}://${isKnown ? forwarded : (headers.host ?? 'localhost')}`;
}
