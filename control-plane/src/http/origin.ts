import { forbidden } from '@gatehouse/contract';

export interface OriginHeaders {
  readonly secFetchSite: string | undefined;
  readonly origin: string | undefined;
  readonly host: string | undefined;
}

/**
 * Rejects a state-changing request that a browser sent from another site. That includes sibling subdomains, which
 * SameSite=Lax alone would let through. A script sends neither header and passes. Guarded by origin.http.test.ts.
 */
export function refuseForeignOrigin(headers: OriginHeaders, allowedOrigins: ReadonlySet<string>): void {
  const { secFetchSite, origin, host } = headers;
  if (origin !== undefined && allowedOrigins.has(origin.toLowerCase())) return;
  if (secFetchSite !== undefined) {
    // An undefined value or a repeated header proves nothing.
    if (secFetchSite === 'same-origin' || secFetchSite === 'none') return;
    throw forbidden('Requests from another site are refused; set ALLOWED_ORIGINS to accept its origin.');
  }
  if (origin === undefined || isOwn(origin, host)) return;
  throw forbidden('Requests from this origin are refused; set ALLOWED_ORIGINS to accept it.');
}

// The scheme is not compared: behind a proxy that terminates TLS the service does not know it.
function isOwn(origin: string, host: string | undefined): boolean {
  const match = /^https?:\/\/([^/]+)$/i.exec(origin);
  return (
    match !== null &&
    host !== undefined &&
    withoutDefaultPort(match[1] as string) === withoutDefaultPort(host)
  );
}

function withoutDefaultPort(host: string): string {
  return host.toLowerCase().replace(/:(80|443)$/, '');
}
