import { endpoints } from './endpoints/index.ts';
import { endpointsDocument } from './endpoints-document.ts';
import { openApiDocument } from './openapi.ts';

/** The committed documents that are written from the contract, by their path from the project's root. */
export function generatedDocuments(): Record<string, string> {
  return {
    'docs/openapi.json': `${JSON.stringify(openApiDocument(endpoints), null, 2)}\n`,
    'docs/endpoints.md': endpointsDocument(endpoints),
  };
}
