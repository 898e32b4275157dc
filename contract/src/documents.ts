import { endpoints } from './endpoints/index.ts';
import { endpointsDocument } from './endpoints-document.ts';
import { gatewayOpenApiDocument } from './gateway/openapi.ts';
import { navigations } from './navigation.ts';
import { openApiDocument } from './openapi.ts';

/** The committed documents that are generated from the contract, by path from the repository root. */
export function generatedDocuments(): Record<string, string> {
  return {
    'docs/openapi.json': `${JSON.stringify(openApiDocument(endpoints, navigations), null, 2)}\n`,
    'docs/gateway-openapi.json': `${JSON.stringify(gatewayOpenApiDocument(), null, 2)}\n`,
    'docs/endpoints.md': endpointsDocument(endpoints, navigations),
  };
}
