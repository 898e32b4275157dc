import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { endpoints, navigations, openApiDocument } from '@gatehouse/contract';
import { Validator } from '@seriousme/openapi-schema-validator';

describe('docs/openapi.json', () => {
  it('is valid by the official schema of OpenAPI 3.1', async () => {
    const validator = new Validator();
    const result = await validator.validate({ ...openApiDocument(endpoints, navigations) });
    assert.deepEqual(result, { valid: true });
    assert.equal(validator.version, '3.1');
  });

  it('is invalid with an error in it', async () => {
    const broken = {
      ...openApiDocument(endpoints, navigations),
      paths: { '/me': { get: { parameters: 5 } } },
    };
    const result = await new Validator().validate(broken);
    assert.equal(result.valid, false);
  });
});
