import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { endpoints, gatewayOpenApiDocument, navigations, openApiDocument } from '@gatehouse/contract';
import { createConfig, lintFromString } from '@redocly/openapi-core';

// A redirect is no success of two hundred, and a description that anyone may read refuses nobody.
const OFF = { 'operation-2xx-response': 'off', 'operation-4xx-response': 'off' } as const;

/** The places where a document is no OpenAPI 3.1, or falls short of what its linter recommends. */
async function findings(document: object): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended'], rules: OFF });
  const problems = await lintFromString({ source: JSON.stringify(document), config });
  return problems.map(({ ruleId, message, location }) => `${location[0]?.pointer} ${ruleId}: ${message}`);
}

const API = openApiDocument(endpoints, navigations);

describe('the descriptions of the API and the gateway', () => {
  for (const [name, document] of Object.entries({ API, gateway: gatewayOpenApiDocument() }))
    it(`of the ${name} leaves the linter nothing to find`, async () => {
      assert.deepEqual(await findings(document), []);
    });

  for (const [title, broken] of [
    [
      'an operation without an answer',
      { ...API, paths: { '/a': { get: { summary: 'a', operationId: 'a' } } } },
    ],
    ['a reference to nothing', { ...API, components: { ...API.components, schemas: {} } }],
    ['a parameter that is none', { ...API, paths: { '/a': { get: { parameters: 5 } } } }],
  ] as const)
    it(`would have it find ${title}`, async () => {
      assert.ok((await findings(broken)).length > 0);
    });
});
