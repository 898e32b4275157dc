import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Refusal } from '../../refusal.ts';
import { countTokens } from '../../tokens/count-tokens.ts';
import { readChatCall } from './chat-call.ts';

const messages = [{ role: 'user', content: 'Hi' }];

describe('a chat call', () => {
  for (const [body, param] of [
    [{}, 'messages'],
    [{ messages: null }, 'messages'],
    [{ messages: [] }, 'messages'],
    [{ messages: 'Hi' }, 'messages'],
    [{ messages: ['Hi'] }, 'messages'],
    [{ messages: [null] }, 'messages'],
    [{ messages: { 0: messages[0], length: 1 } }, 'messages'],
    [{ messages, stream: 'true' }, 'stream'],
    [{ messages, stream: 1 }, 'stream'],
    [{ messages, stream_options: [] }, 'stream_options'],
    [{ messages, n: 0 }, 'n'],
    [{ messages, n: 129 }, 'n'],
    [{ messages, n: 1.5 }, 'n'],
    [{ messages, n: '1' }, 'n'],
    [{ messages, max_tokens: 0 }, 'max_tokens'],
    [{ messages, max_tokens: -1 }, 'max_tokens'],
    [{ messages, max_tokens: 1.5 }, 'max_tokens'],
    [{ messages, max_tokens: 1e18 }, 'max_tokens'],
    [{ messages, max_tokens: 2 ** 53 }, 'max_tokens'],
    [{ messages, max_tokens: '5' }, 'max_tokens'],
    [{ messages, max_tokens: {} }, 'max_tokens'],
    [{ messages, max_completion_tokens: 1e300 }, 'max_completion_tokens'],
    [{ messages, max_completion_tokens: [] }, 'max_completion_tokens'],
  ] as const) {
    it(`is refused for ${param} in ${JSON.stringify(body)}`, () => {
      assert.throws(
        () => readChatCall(body),
        (error) =>
          error instanceof Refusal &&
          error.status === 400 &&
          error.code === 'invalid_request' &&
          error.param === param,
      );
    });
  }

  for (const [body, cap, sent] of [
    [{ messages }, undefined, { max_completion_tokens: 50 }],
    [{ messages, max_tokens: null, n: null, stream: null }, undefined, { max_completion_tokens: 50 }],
    [{ messages, max_tokens: 70 }, 70, { max_tokens: 50 }],
    [{ messages, max_completion_tokens: 70 }, 70, { max_completion_tokens: 50 }],
    [
      { messages, max_tokens: 70, max_completion_tokens: 60 },
      60,
      { max_tokens: 50, max_completion_tokens: 50 },
    ],
  ] as const) {
    it(`sends ${JSON.stringify(sent)} for ${JSON.stringify(body)} and a limit of 50`, () => {
      const call = readChatCall(body);
      assert.equal(call.outputCap, cap);
      const upstream = JSON.parse(call.upstreamBody('up', 50)) as Record<string, unknown>;
      assert.deepEqual(upstream, { ...body, model: 'up', ...sent });
    });
  }

  it("asks for usage in a stream, beside the caller's own options", () => {
    const call = readChatCall({ messages, stream: true, stream_options: { include_obfuscation: false } });
    const upstream = JSON.parse(call.upstreamBody('up', 5)) as Record<string, unknown>;
    assert.deepEqual(upstream['stream_options'], { include_obfuscation: false, include_usage: true });
  });

  it('sends on what it does not know, and a member __proto__ as a member', () => {
    const body = JSON.parse(
      '{"messages":[{"role":"user"}],"__proto__":{"admin":true},"seed":7,"x":[1,{"y":"é"}]}',
    );
    const upstream = readChatCall(body).upstreamBody('up', 5);
    assert.ok(upstream.includes('"__proto__":{"admin":true}'));
    assert.ok(upstream.includes('"x":[1,{"y":"é"}]'));
  });

  for (const [title, members, text, overhead] of [
    ['text', { messages }, 'Hi', 7],
    [
      'two messages',
      { messages: [...messages, { role: 'assistant', content: null, name: 'bot' }] },
      'Hibot',
      11,
    ],
    [
      'parts',
      {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'Look:' },
              { type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(10_000)}` } },
              { type: 'input_audio', input_audio: { data: 'A'.repeat(10_000), format: 'mp3' } },
              { type: 'file', file: { file_data: 'A'.repeat(10_000) } },
            ],
          },
        ],
      },
      'Look:',
      7 + 2_000 + 4_000 + 20_000,
    ],
    [
      'a part of an unknown kind',
      { messages: [{ role: 'user', content: [{ type: 'x', y: 1 }] }] },
      '{"type":"x","y":1}',
      7,
    ],
    ['tools', { messages, tools: [{ type: 'function' }] }, 'Hi[{"type":"function"}]', 7],
    [
      'the calls of tools',
      { messages: [{ role: 'assistant', tool_calls: [{ id: 'c' }] }] },
      '[{"id":"c"}]',
      7,
    ],
  ] as const) {
    it(`is sized by what a model reads: ${title}`, async () => {
      const call = readChatCall(members);
      assert.equal(call.promptOverheadTokens, overhead);
      assert.equal([...call.promptTexts()].join(''), text);
      assert.ok((await countTokens(call.promptTexts())) > 0);
    });
  }
});
