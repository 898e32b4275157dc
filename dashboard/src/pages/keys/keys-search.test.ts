import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { matchingKeys, validateKeys } from './keys-search.ts';

const ID = '0b0e7f0a-1111-4222-8333-444455556666';

describe('the parameters of the keys page', () => {
  it('are kept where they are valid', () => {
    const search = { q: 'web', environment: 'testing', project: ID, open: ID };
    assert.deepEqual(validateKeys(search), search);
  });

  it('are dropped where they are not', () => {
    assert.deepEqual(
      validateKeys({ q: '', environment: 'constructor', project: '../x', open: '<script>', other: '1' }),
      {},
    );
    assert.equal(validateKeys({ q: 'x'.repeat(10_000) }).q?.length, 255);
  });

  it('find keys by name, prefix and model, in any case', () => {
    const key = (name: string, models: string[] | null, environment: 'production' | 'testing') => ({
      name,
      key_prefix: `sk_svc_${name.slice(0, 2)}`,
      allowed_models: models,
      environment,
      project_id: ID,
    });
    const keys = [key('Web', ['openai/gpt-5'], 'production'), key('İş', null, 'testing')];
    const found = (search: Parameters<typeof matchingKeys>[1]) =>
      matchingKeys(keys, search).map(({ name }) => name);
    assert.deepEqual(found({}), ['Web', 'İş']);
    assert.deepEqual(found({ q: 'wEB' }), ['Web']);
    assert.deepEqual(found({ q: 'GPT' }), ['Web']);
    assert.deepEqual(found({ environment: 'testing' }), ['İş']);
    assert.deepEqual(found({ project: 'other' }), []);
  });
});
