import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { firstCurl } from './first-curl.ts';

describe('the first request', () => {
  it('is a command with the real address, key and model', () => {
    assert.equal(
      firstCurl('https://llm.example.com', 'sk_svc_x', 'demo/echo'),
      `curl https://llm.example.com/v1/chat/completions \\
  -H 'authorization: Bearer sk_svc_x' \\
  -H 'content-type: application/json' \\
  -d '{"model":"demo/echo","messages":[{"role":"user","content":"Hello, Gatehouse!"}]}'`,
    );
  });

  it('quotes what a catalogue may contain', () => {
    assert.match(firstCurl('http://localhost:8081', undefined, `a'; rm x; '`), /"a'\\''; rm x; '\\''"/);
  });
});
