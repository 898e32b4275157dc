import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { useBench } from '../testing/bench.ts';
import { json } from '../testing/mock-provider.ts';

const bench = await useBench({
  bodyLimitBytes: 1024 * 1024,
  metadataHeaders: new Map([
    ['x-claude-code-session-id', 'session-id'],
    ['x-openwebui-user-email', 'user-email'],
  ]),
});

describe('headers that are kept as metadata', () => {
  it('200 with what the client says of itself on record, and nothing personal sent to the provider', async () => {
    bench.provider.script = json({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 1 } });
    const headers = {
      'x-claude-code-session-id': 'a-session',
      'x-openwebui-user-email': 'person@example.com',
      'x-openwebui-user-role': 'admin',
      'x-svc-meta-team': 'search',
    };
    const response = await bench.gateway.chat(bench.key.secret, {}, { headers });
    assert.equal(response.status, 200);
    const { metadata } = await bench.recordOf(response);
    assert.deepEqual(Object.fromEntries(metadata), {
      team: 'search',
      'session-id': 'a-session',
      'user-email': 'person@example.com',
    });
    const sent = JSON.stringify(bench.provider.asked.at(-1)?.headers);
    assert.doesNotMatch(sent, /openwebui|person@example\.com|svc-meta/);
  });
});
