import { endpoints, navigations, openApiDocument } from '@gatehouse/contract';
import { CONTENT_SECURITY_POLICY, REFERENCE_PATH } from '../page-policy.ts';
import type { Route } from '../router.ts';
import { referencePage, STYLE_PATH } from './reference-page.ts';
import { REFERENCE_STYLE } from './reference-style.ts';

const CACHE_SECONDS = 300;

/** The description of the API, and the page of it. Each is made for its first caller, and is then the same for all. */
export function referenceRoutes(): Route[] {
  return [
    whole('/api/openapi.json', 'application/json; charset=utf-8', () =>
      JSON.stringify(openApiDocument(endpoints, navigations)),
    ),
    whole(REFERENCE_PATH, 'text/html; charset=utf-8', referencePage),
    whole(STYLE_PATH, 'text/css; charset=utf-8', () => REFERENCE_STYLE),
  ];
}

function whole(path: string, contentType: string, make: () => string): Route {
  let bytes: Buffer | undefined;
  return {
    method: 'GET',
    path,
    async handle(exchange) {
      bytes ??= Buffer.from(make());
      exchange.headers['content-type'] = contentType;
      exchange.headers['cache-control'] = `public, max-age=${CACHE_SECONDS}`;
      if (contentType.startsWith('text/html'))
        exchange.headers['content-security-policy'] = CONTENT_SECURITY_POLICY;
      await exchange.sendBytes(200, bytes, 0);
    },
  };
}
