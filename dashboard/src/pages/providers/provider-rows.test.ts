import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { providerRows } from './provider-rows.ts';

const key = (provider: string) => ({
  provider,
  key_hint: 'wxyz',
  created_at: '2026-11-01T00:00:00+00:00',
  updated_at: '2026-11-02T00:00:00+00:00',
});

describe('the providers', () => {
  it('are those of the catalogue and of the vault, those with a key first', () => {
    const routes = [
      { id: 'openai/a', provider: 'openai', active: true },
      { id: 'openai/b', provider: 'openai', active: false },
      { id: 'groq/c', provider: 'groq', active: true },
    ];
    const rows = providerRows(routes, [key('removed'), key('openai')]);
    assert.deepEqual(
      rows.map(({ provider, models, key }) => [provider, models.length, key !== undefined]),
      [
        ['openai', 2, true],
        ['removed', 0, true],
        ['groq', 1, false],
      ],
    );
  });

  it('are none where there is nothing', () => assert.deepEqual(providerRows([], []), []));
});
