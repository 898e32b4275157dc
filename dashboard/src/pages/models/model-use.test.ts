import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { modelUse, useInWords } from './model-use.ts';

describe('the use of a model', () => {
  const own = (provider: string) => provider === 'bedrock';

  it('is none while it is inactive, whatever keys there are', () => {
    const use = modelUse({ active: false, byok_providers: ['bedrock'] }, own);
    assert.deepEqual(use, { kind: 'inactive' });
    assert.match(useInWords(use), /404/);
  });

  it('is on the own key where any of its providers has one, also where the first has none', () => {
    const use = modelUse({ active: true, byok_providers: ['anthropic', 'bedrock'] }, own);
    assert.deepEqual(use, { kind: 'own', providers: ['bedrock'] });
    assert.match(useInWords(use), /key for bedrock/);
  });

  it('is on the platform otherwise, also where a stored key is of a provider that takes none', () => {
    assert.deepEqual(
      modelUse({ active: true, byok_providers: [] }, () => true),
      {
        kind: 'platform',
        mayBring: [],
      },
    );
    const use = modelUse({ active: true, byok_providers: ['anthropic'] }, own);
    assert.deepEqual(use, { kind: 'platform', mayBring: ['anthropic'] });
    assert.match(useInWords(use), /503/);
  });
});
