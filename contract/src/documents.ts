import { endpoints } from './endpoints/index.ts';
import { endpointsDocument } from './endpoints-document.ts';
import { openApiDocument } from './openapi.ts';

/** The committed documents that are generated from the contract, by path from the repository root. */
export function generatedDocuments(): Record<string, string> {
  return {
    'docs/openapi.json': `${JSON.stringify(openApiDocument(endpoints), null, 2)}\n`,
    'docs/endpoints.md': endpointsDocument(endpoints),
  };
}
