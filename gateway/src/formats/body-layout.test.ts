import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { callsOf, upstreamBody } from '../testing/test-call.ts';

describe('bodyEdits', () => {
  for (const [before, removed, after] of [
    [
      '{"a":1,"b":2,"model":"m","messages":[{}]}',
      ['a', 'b'],
      '{"model":"up","max_tokens":9,"messages":[{}]}',
    ],
    [
      '{ "a" : 1 , "model" : "m" , "b" : {} , "messages":[{}] , "c" : [1] }',
      ['a', 'b', 'c'],
      '{ "model" : "up","max_tokens":9 , "messages":[{}] }',
    ],
    [
      '{"messages":[{}],"a":1,"b":2,"c":3,"model":"m"}',
      ['a', 'c'],
      '{"messages":[{}],"b":2,"model":"up","max_tokens":9}',
    ],
    [
      '{"model":"m","a":1,"messages":[{}],"stream":true}',
      ['a'],
      '{"model":"up","max_tokens":9,"stream_options":{"include_usage":true},"messages":[{}],"stream":true}',
    ],
    // What the caller has no stake in is neither removed nor in the way.
    ['{"model":"m","messages":[{}]}', ['model', 'x'], '{"model":"up","max_tokens":9,"messages":[{}]}'],
    // A cap that credit is held by is always sent.
    [
      '{"model":"m","max_tokens":7,"messages":[{}]}',
      ['max_tokens', 'max_completion_tokens'],
      '{"model":"up","max_tokens":9,"messages":[{}]}',
    ],
    [
      '{"model":"m","max_completion_tokens":7,"a":1,"max_tokens":7,"messages":[{}]}',
      ['a'],
      '{"model":"up","max_tokens":9,"messages":[{}]}',
    ],
    [
      '{"model":"m","messages":[{}],"stream":true,"stream_options":{"x":1}}',
      ['stream_options'],
      '{"model":"up","max_tokens":9,"messages":[{}],"stream":true}',
    ],
    [
      '{"model":"m","messages":[{}],"stream":true}',
      ['stream_options'],
      '{"model":"up","max_tokens":9,"messages":[{}],"stream":true}',
    ],
  ] as const) {
    it(`takes ${removed.join(', ')} out of ${before}`, async () => {
      const call = (await callsOf('chat', before))();
      assert.equal(upstreamBody('chat', call, { outputCap: 9, removed: new Set(removed) }), after);
    });
  }

  it('leaves the usage alone where the provider is not asked for it', async () => {
    const before = '{"model":"m","messages":[{}],"stream":true}';
    const call = (await callsOf('chat', before))();
    assert.equal(upstreamBody('chat', call, { asksForUsage: false }), before.replace('"m"', '"up"'));
  });
});
