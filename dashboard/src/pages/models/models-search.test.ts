import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { matchingRoutes, validateModels } from './models-search.ts';

describe('the parameters of the models page', () => {
  it('are kept where they are valid, and dropped where they are not', () => {
    const search = { q: 'gpt', provider: 'openai', state: 'active', open: 'openai/gpt-5' };
    assert.deepEqual(validateModels(search), search);
    assert.deepEqual(validateModels({ q: '', provider: 'x'.repeat(301), state: 'toString', open: '' }), {});
  });

  it('find models by id, alias and provider, in any case', () => {
    const routes = [
      { id: 'openai/gpt-5', aliases: ['best'], provider: 'openai', active: true },
      { id: 'groq/llama', aliases: [], provider: 'groq', active: false },
    ];
    const found = (search: Parameters<typeof matchingRoutes>[1]) =>
      matchingRoutes(routes, search).map(({ id }) => id);
    assert.deepEqual(found({}), ['openai/gpt-5', 'groq/llama']);
    assert.deepEqual(found({ q: 'BEST' }), ['openai/gpt-5']);
    assert.deepEqual(found({ provider: 'groq' }), ['groq/llama']);
    assert.deepEqual(found({ state: 'active' }), ['openai/gpt-5']);
    assert.deepEqual(found({ q: 'nothing' }), []);
  });
});
