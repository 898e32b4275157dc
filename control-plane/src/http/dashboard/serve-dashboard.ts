import { notFound } from '@gatehouse/contract';
import { isHealthPath, pathOf } from '@gatehouse/http';
import type { Exchange } from '../exchange.ts';
import { CONTENT_SECURITY_POLICY, REFERENCE_PATH } from '../page-policy.ts';
import { acceptedEncoding, namesMediaType } from './accept.ts';
import { type DashboardFile, type DashboardFiles, ENCODINGS } from './dashboard-files.ts';

const PERMISSIONS_POLICY = [
  'accelerometer=()',
  'camera=()',
  'display-capture=()',
  'geolocation=()',
  'gyroscope=()',
  'microphone=()',
  'payment=()',
  'usb=()',
  'clipboard-write=(self)',
].join(', ');

const ASSETS = '/assets/';
/** The log's name for a file of the page. */
export const ASSET_ROUTE = `${ASSETS}:file`;
// The name of a file has its hash, so another content has another name.
const FOR_EVER = 'public, max-age=31536000, immutable';
const ASK_EACH_TIME = 'no-cache';

/**
 * Answers a request for the dashboard and returns whether it was one: a file of it, or a path outside of the API that a
 * browser opens as a page, which the page itself resolves. Programs do not accept HTML, so they get the answers that
 * they would get without a dashboard.
 */
export function serveDashboard(exchange: Exchange, { page, assets }: DashboardFiles): boolean {
  const { method } = exchange.request;
  if (method !== 'GET' && method !== 'HEAD') return false;
  const path = pathOf(exchange.target);
  if (path.startsWith(ASSETS)) {
    const file = assets.get(path);
    exchange.routePath = ASSET_ROUTE;
    if (!file) throw fileNotFound;
    send(exchange, file, FOR_EVER);
    return true;
  }
  if (!isPagePath(path) || !namesMediaType(exchange.header('accept'), 'text/html')) return false;
  // The path may name a request or a key, which do not belong in the log.
  exchange.routePath = '/';
  exchange.headers['vary'] = 'Accept';
  send(exchange, page, ASK_EACH_TIME);
  return true;
}

const fileNotFound = notFound('Path');

/** Outside of the API, its reference and the health checks, and without the ending of a file: `/favicon.ico` is no page. */
function isPagePath(path: string): boolean {
  const decoded = decodeURIComponent(path);
  if (decoded === REFERENCE_PATH) return false;
  return !/^\/+api(\/|$)/i.test(decoded) && !isHealthPath(decoded) && !/\.[a-z][a-z0-9]*$/i.test(decoded);
}

function send(exchange: Exchange, file: DashboardFile, cacheControl: string): void {
  const { response, headers } = exchange;
  if (response.destroyed) return;
  const available = ENCODINGS.filter((encoding) => file.encoded.has(encoding));
  const encoding = acceptedEncoding(exchange.header('accept-encoding'), available);
  const content = (encoding && file.encoded.get(encoding)) ?? file.identity;
  headers['cache-control'] = cacheControl;
  headers['content-security-policy'] = CONTENT_SECURITY_POLICY;
  headers['permissions-policy'] = PERMISSIONS_POLICY;
  headers['etag'] = content.etag;
  if (available.length > 0)
    headers['vary'] = [headers['vary'], 'Accept-Encoding'].filter((name) => name !== undefined).join(', ');
  if (isCurrent(exchange.header('if-none-match'), content.etag)) {
    response.writeHead(304, headers).end();
    return;
  }
  headers['content-type'] = file.contentType;
  if (encoding !== undefined) headers['content-encoding'] = encoding;
  // The file is in memory once for all callers.
  void exchange.sendBytes(200, content.bytes, 0);
}

function isCurrent(ifNoneMatch: string | undefined, etag: string): boolean {
  const known = (ifNoneMatch ?? '').split(',').map((one) => one.trim().replace(/^W\//, ''));
  return known.includes(etag) || known.includes('*');
}
