import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { callsOf, upstreamBody } from '../../testing/test-call.ts';
import { countTokens } from '../../tokens/count-tokens.ts';
import { readRequest } from '../read-request.ts';

const messages = [{ role: 'user', content: 'Hi' }];
const MESSAGES = JSON.stringify(messages);
const modelled = (members: string) => `{"model":"m","messages":${MESSAGES}${members && `,${members}`}}`;

async function issueOf(json: string) {
  const reading = await readRequest('chat', Buffer.from(json));
  return reading.kind === 'refused' ? reading.issue : undefined;
}

describe('a chat call', () => {
  for (const [members, param] of [
    ['', 'messages'],
    ['"messages":null', 'messages'],
    ['"messages":[]', 'messages'],
    ['"messages":"Hi"', 'messages'],
    ['"messages":["Hi"]', 'messages'],
    ['"messages":[null]', 'messages'],
    ['"messages":{"0":{},"length":1}', 'messages'],
    ...[
      ['"stream":"true"', 'stream'],
      ['"stream":1', 'stream'],
      ['"stream_options":[]', 'stream_options'],
      ['"n":0', 'n'],
      ['"n":129', 'n'],
      ['"n":1.5', 'n'],
      ['"n":"1"', 'n'],
      ['"max_tokens":0', 'max_tokens'],
      ['"max_tokens":-1', 'max_tokens'],
      ['"max_tokens":1.5', 'max_tokens'],
      ['"max_tokens":1e18', 'max_tokens'],
      ['"max_tokens":9007199254740992', 'max_tokens'],
      ['"max_tokens":"5"', 'max_tokens'],
      ['"max_tokens":{}', 'max_tokens'],
      ['"max_completion_tokens":1e300', 'max_completion_tokens'],
      ['"max_completion_tokens":[]', 'max_completion_tokens'],
      ['"max_tokens":1,"max_tokens":100000', 'max_tokens'],
      ['"max_tokens":1,"max_tok\\u0065ns":100000', 'max_tokens'],
      ['"model":"other"', 'model'],
      ['"stream":true,"stream":false', 'stream'],
      ['"n":1,"n":1', 'n'],
      ['"messages":[]', 'messages'],
      ['"x":1,"x":1', 'x'],
      ['"Max_Tokens":100000', 'max_tokens'],
      ['"max_to\\u212aens":100000', 'max_tokens'],
      [`"tools":[${Array.from({ length: 33 }, (_, index) => `{"type":"t${index}"}`).join(',')}]`, 'tools'],
    ].map(([other, param]) => [`"messages":${MESSAGES},${other}`, param] as const),
  ] as const) {
    it(`is refused for ${param} in {${String(members).slice(0, 120)}}`, async () => {
      const issue = await issueOf(`{"model":"m"${members && `,${members}`}}`);
      assert.deepEqual([issue?.status, issue?.param], [400, param]);
    });
  }

  it('names what it was, for the record, also when it is refused', async () => {
    const reading = await readRequest('chat', Buffer.from('{"model":"m","stream":true,"messages":[]}'));
    assert.ok(reading.kind === 'refused');
    assert.deepEqual([reading.model, reading.isStream], ['m', true]);
  });

  // Sent under the name the provider knows, wherever the caller had it; nothing else is touched.
  for (const [members, limit, sent] of [
    ['', 'max_completion_tokens', { max_completion_tokens: 50 }],
    ['', 'max_tokens', { max_tokens: 50 }],
    ['', 'both', { max_tokens: 50, max_completion_tokens: 50 }],
    ['"max_tokens":null,"n":null', 'max_tokens', { max_tokens: 50, n: null }],
    ['"max_tokens":70', 'max_tokens', { max_tokens: 50 }],
    ['"max_tokens":70', 'max_completion_tokens', { max_completion_tokens: 50 }],
    ['"max_tokens":70', 'both', { max_tokens: 50, max_completion_tokens: 50 }],
    ['"max_completion_tokens":70', 'max_completion_tokens', { max_completion_tokens: 50 }],
    ['"max_completion_tokens":70', 'max_tokens', { max_tokens: 50 }],
    ['"max_tokens":70,"max_completion_tokens":60', 'max_tokens', { max_tokens: 50 }],
    ['"max_tokens":70,"max_completion_tokens":60', 'max_completion_tokens', { max_completion_tokens: 50 }],
    ['"max_tokens":70,"max_completion_tokens":60', 'both', { max_tokens: 50, max_completion_tokens: 50 }],
  ] as const) {
    it(`sends ${JSON.stringify(sent)} for {${members}} to a provider that reads ${limit}`, async () => {
      const json = modelled(members);
      const call = (await callsOf('chat', json))();
      const given = [...members.matchAll(/tokens":(\d+)/g)].map((match) => Number(match[1]));
      assert.equal(call.outputCap, given.length === 0 ? undefined : Math.min(...given));
      const upstream = JSON.parse(upstreamBody('chat', call, { outputCap: 50, outputLimit: limit }));
      assert.deepEqual(upstream, { model: 'up', messages, ...sent });
    });
  }

  for (const [before, after] of [
    ['{"model":"m","messages":[{}]}', '{"model":"up","max_tokens":9,"messages":[{}]}'],
    [
      ' {\n "x" : 9007199254740993, "model" : "m" , "messages": [ {"y":1.0} ]\r\n} ',
      ' {\n "x" : 9007199254740993, "model" : "up","max_tokens":9 , "messages": [ {"y":1.0} ]\r\n} ',
    ],
    [
      '{"max_completion_tokens":1, "max_tokens":1, "model":"m","messages":[{}]}',
      '{"max_tokens":9, "model":"up","messages":[{}]}',
    ],
    [
      '{"model":"m","messages":[{}], "max_tokens":1 , "max_completion_tokens" : 2 }',
      '{"model":"up","messages":[{}], "max_tokens":9 }',
    ],
    [
      '{"messages":[{}],"__proto__":{"admin":true},"mod\\u0065l":"m","seed":1E2}',
      '{"messages":[{}],"__proto__":{"admin":true},"mod\\u0065l":"up","max_tokens":9,"seed":1E2}',
    ],
    [
      '{"model":"m","messages":[{}],"stream":true}',
      '{"model":"up","max_tokens":9,"stream_options":{"include_usage":true},"messages":[{}],"stream":true}',
    ],
    [
      '{"model":"m","messages":[{}],"stream":true,"stream_options":null}',
      '{"model":"up","max_tokens":9,"messages":[{}],"stream":true,"stream_options":{"include_usage":true}}',
    ],
    [
      '{"model":"m","messages":[{}],"stream":true,"stream_options": { } }',
      '{"model":"up","max_tokens":9,"messages":[{}],"stream":true,"stream_options": {"include_usage":true } }',
    ],
    [
      '{"model":"m","messages":[{}],"stream":true,"stream_options":{ "a" : 1.0}}',
      '{"model":"up","max_tokens":9,"messages":[{}],"stream":true,"stream_options":{"include_usage":true, "a" : 1.0}}',
    ],
    [
      '{"model":"m","messages":[{}],"stream":true,"stream_options":{"include_usage":false,"a":1.0}}',
      '{"model":"up","max_tokens":9,"messages":[{}],"stream":true,"stream_options":{"include_usage":true,"a":1.0}}',
    ],
    [
      '{"model":"m","messages":[{}],"stream":true,"stream_options":{"include_usage":true }}',
      '{"model":"up","max_tokens":9,"messages":[{}],"stream":true,"stream_options":{"include_usage":true }}',
    ],
    [
      '{"model":"m","messages":[{}],"stream":false,"stream_options":{"include_usage":false}}',
      '{"model":"up","max_tokens":9,"messages":[{}],"stream":false,"stream_options":{"include_usage":false}}',
    ],
  ] as const) {
    it(`sends ${before} on byte for byte but for what it must change`, async () => {
      const call = (await callsOf('chat', before))();
      assert.equal(upstreamBody('chat', call, { outputCap: 9 }), after);
    });
  }

  it('lets go of the body once the provider has its own', async () => {
    const call = (await callsOf('chat', { messages }))();
    call.takeBody();
    assert.throws(() => call.takeBody());
  });

  for (const [title, members, texts, overhead, uncountable] of [
    ['text', { messages }, ['Hi'], 7, []],
    [
      'two messages',
      { messages: [...messages, { role: 'assistant', content: null, name: 'bot' }] },
      ['Hi', 'bot'],
      11,
      [],
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
      ['Look:'],
      7 + 2_000 + 4_000 + 20_000,
      ['image_url', 'input_audio', 'file'],
    ],
    [
      'parts of an unknown kind',
      { messages: [{ role: 'user', content: [{ type: 'x', y: 1 }] }] },
      ['{"type":"x","y":1}'],
      7,
      ['x'],
    ],
    [
      'a part without its list',
      { messages: [{ role: 'user', content: { type: 'image_url', image_url: {} } }] },
      [],
      7 + 2_000,
      ['image_url'],
    ],
    [
      'the audio that was spoken before',
      { messages: [{ role: 'assistant', audio: { id: 'a' } }] },
      ['{"id":"a"}'],
      7,
      ['audio'],
    ],
    ['tools', { messages, tools: [{ type: 'function' }] }, ['Hi', '[{"type":"function"}]'], 7, []],
    [
      'the calls of tools',
      { messages: [{ role: 'assistant', tool_calls: [{ id: 'c' }] }] },
      ['[{"id":"c"}]'],
      7,
      [],
    ],
  ] as const) {
    it(`is sized by what a model reads: ${title}`, async () => {
      const call = (await callsOf('chat', members))();
      assert.equal(call.promptTokens, overhead + (await countTokens(texts)));
      assert.deepEqual(call.uncountableParts, uncountable);
    });
  }

  it('names at most eight kinds of parts', async () => {
    const content = Array.from({ length: 20 }, (_, index) => ({ type: `t${index}` }));
    const call = (await callsOf('chat', { messages: [{ role: 'user', content }] }))();
    assert.equal(call.uncountableParts.length, 8);
  });

  it('has its small members, and of the large ones the names', async () => {
    const tools = [{ type: 'function' }, { type: 'web_search' }, { type: 'function' }, {}];
    const call = (await callsOf('chat', { messages, tools, seed: 7, metadata: { a: 'x'.repeat(3_000) } }))();
    assert.deepEqual([...call.members.keys()], ['model', 'messages', 'tools', 'seed', 'metadata']);
    assert.deepEqual(call.members.get('tools'), tools);
    assert.equal(call.members.get('metadata'), undefined);
    assert.deepEqual(call.toolTypes, ['function', 'web_search', '']);
  });
});
