import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import type { Surface } from '@gatehouse/contract';
import { claudeCodeBody } from '../testing/claude-code-body.ts';
import { codexBody } from '../testing/codex-body.ts';
import { readRequest } from './read-request.ts';
import { CODEX_LATER } from './responses/codex-body.fixture.ts';

// A provider is sent every byte of a body and may bill any of it. So wherever a long text stands in a body, credit is held for it,
// or the body is refused.

const TEXT = 'word '.repeat(8_000);
const TEXT_TOKENS = 8_000;
const MAX_ENTRIES = 20;

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

const chatBody: Json = {
  model: 'm',
  messages: [
    { role: 'system', content: 'Be kind.', name: 's' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Look', cache_control: { type: 'ephemeral' } },
        { type: 'refusal', refusal: 'No', text: 'No' },
        { type: 'image_url', image_url: { url: 'https://x.test/a.png', detail: 'low' } },
        { type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } },
        { type: 'file', file: { filename: 'a.pdf', file_data: 'AAAA' } },
        { type: 'other', other: 1 },
        'a bare text',
      ],
    },
    {
      role: 'assistant',
      content: null,
      refusal: 'No',
      audio: { id: 'a' },
      reasoning_content: 'Hm',
      tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
      function_call: { name: 'f', arguments: '{}' },
    },
    { role: 'tool', tool_call_id: 'c', content: 'Done.' },
  ],
  stream: true,
  stream_options: { include_usage: true },
  temperature: 0.5,
  stop: ['a'],
  user: 'u',
  tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }],
  tool_choice: 'auto',
  response_format: { type: 'json_schema', json_schema: { name: 'n', schema: {} } },
  logit_bias: { 50256: -100 },
  metadata: { a: 'b' },
  documents: [{ title: 't', text: 'x' }],
  chat_template: 'x',
  chat_template_kwargs: { a: true },
};

const messagesBody: Json = {
  model: 'm',
  max_tokens: 5,
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Hi', citations: [{ cited_text: 'x' }] },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
        {
          type: 'document',
          title: 't',
          context: 'c',
          source: { type: 'text', media_type: 'text/plain', data: 'x' },
        },
        { type: 'document', source: { type: 'content', content: [{ type: 'text', text: 'x' }] } },
        { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'AAAA' } },
        { type: 'search_result', source: 's', title: 't', content: [{ type: 'text', text: 'x' }] },
        { type: 'container_upload', file_id: 'f' },
        {
          type: 'web_fetch_tool_result',
          tool_use_id: 't',
          content: { url: 'u', content: { type: 'document' } },
        },
        { type: 'web_search_tool_result', tool_use_id: 't', content: [{ url: 'u' }] },
        { type: 'compaction', content: 'x', encrypted_content: 'AAAA' },
      ],
    },
    { role: 'assistant', content: [{ type: 'redacted_thinking', data: 'AAAA' }] },
  ],
};

const BODIES: readonly (readonly [Surface, string, Json])[] = [
  ['chat', 'every kind of member', chatBody],
  ['completions', 'a text', { model: 'm', prompt: 'Hi', suffix: 'x', stop: ['a'], user: 'u', echo: true }],
  ['completions', 'token ids', { model: 'm', prompt: [[1, 2], [3]] }],
  ['embeddings', 'texts', { model: 'm', input: ['Hi'], encoding_format: 'float', user: 'u', dimensions: 3 }],
  ['responses', "Codex's", JSON.parse(codexBody('m'))],
  ['responses', "Codex's later one", CODEX_LATER as Json],
  ['messages', 'every kind of block', messagesBody],
  ['messages', "Claude Code's", JSON.parse(claudeCodeBody())],
];

/** Members that a provider reads otherwise than as text, and those that are replaced on the way. */
const COUNTED_OTHERWISE = /^model$|\.(encrypted_content|signature)$|redacted_thinking\.data$/;

/** Copies of the body with the text in one place each, as a value, a new member's value, or a member's name. */
function* variants(body: Json): Generator<readonly [path: string, body: Json]> {
  const root = { body: structuredClone(body) } as { [name: string]: Json };
  const walk = function* (
    holder: Json[] | { [name: string]: Json },
    path: string,
  ): Generator<readonly [string, Json]> {
    const put = function* (key: string, what: string): Generator<readonly [string, Json]> {
      const target = holder as { [name: string]: Json };
      const had = Object.hasOwn(target, key);
      const before = target[key] as Json;
      target[key] = TEXT;
      yield [what, root['body'] as Json];
      if (had) target[key] = before;
      else delete target[key];
    };
    if (!Array.isArray(holder)) {
      yield* put('unknown', `${path}.unknown`);
      const named = holder as { [name: string]: Json };
      named[TEXT] = null;
      yield [`a name in ${path}`, root['body'] as Json];
      delete named[TEXT];
    }
    // Of a long list, such as many tools, some are enough.
    for (const key of Object.keys(holder).slice(0, MAX_ENTRIES)) {
      const inner = (holder as { [name: string]: Json })[key] as Json;
      const at = path === '' ? key : `${path}.${key}`;
      yield* put(key, at);
      if (typeof inner === 'object' && inner !== null) yield* walk(inner, at);
    }
  };
  yield* walk(root['body'] as { [name: string]: Json }, '');
}

const tokensOf = async (surface: Surface, json: string) => {
  const reading = await readRequest(surface, Buffer.from(json));
  return reading.kind === 'refused' ? undefined : reading.facts.promptTokens;
};

describe('a text of 40 KB', () => {
  for (const [surface, title, body] of BODIES) {
    it(`is counted wherever it stands in a body of ${surface}: ${title}`, async () => {
      const before = (await tokensOf(surface, JSON.stringify(body))) ?? 0;
      const free: string[] = [];
      let counted = 0;
      for (const [path, variant] of variants(body)) {
        if (COUNTED_OTHERWISE.test(path)) continue;
        const tokens = await tokensOf(surface, JSON.stringify(variant));
        if (tokens === undefined) continue;
        counted += 1;
        const isAdded = path.endsWith('.unknown') || path.startsWith('a name in');
        if (tokens < TEXT_TOKENS + (isAdded ? before : 0)) free.push(`${path}: ${tokens}`);
      }
      assert.deepEqual(free, []);
      assert.ok(counted >= 3, String(counted));
    });
  }
});

describe('bytes that are no text once they are parsed', () => {
  const digits = '1'.repeat(4_000);
  for (const [surface, title, json] of [
    [
      'chat',
      'the digits of a number',
      `{"model":"m","messages":[{"role":"user","content":"Hi"}],"documents":[${digits}]}`,
    ],
    [
      'chat',
      'an exponent',
      `{"model":"m","messages":[{"role":"user","content":"Hi"}],"top_p":1e${'0'.repeat(4_000)}1}`,
    ],
    ['embeddings', 'decimals', `{"model":"m","input":[1.${'0'.repeat(4_000)}]}`],
    [
      'chat',
      'empty parts',
      `{"model":"m","messages":[{"role":"user","content":[${'{"type":"text","text":""},'.repeat(2_000)}{}]}]}`,
    ],
    [
      'messages',
      'empty messages',
      `{"model":"m","messages":[${'{"role":"user"},'.repeat(4_000)}{"content":"Hi"}]}`,
    ],
  ] as const) {
    it(`are counted: ${title}`, async () => {
      const tokens = (await tokensOf(surface, json)) ?? 0;
      assert.ok(tokens >= 3_900, String(tokens));
    });
  }
});

describe('40 KB that only look like what is counted by its kind', () => {
  const words = TEXT.replaceAll(' ', '\n');
  const many = (value: Json): Json =>
    Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`member ${index}`, value]));
  const ideographs = '\u6f22\u5b57'.repeat(7_000);
  const chat = (content: Json) => ({ model: 'm', messages: [{ role: 'user', content }] });
  const picture = (url: Json) => chat([{ type: 'image_url', image_url: { url } }]);
  const block = (content: Json): Json => ({ model: 'm', messages: [{ role: 'user', content: [content] }] });
  const inHolders = (value: Json, levels: number): Json =>
    levels === 0 ? value : { image_url: inHolders(value, levels - 1), [`detail of ${levels}`]: {} };
  const OF_KIND = [
    ['image_url', 2_000],
    ['image', 5_000],
    ['input_file', 20_000],
  ] as const;
  const SHAPES: readonly (readonly [title: string, Surface, Json])[] = [
    ['true', 'chat', { ...(chat('Hi') as object), messages: [{ role: 'user', ...(many(true) as object) }] }],
    ['null beside a text', 'chat', chat([{ type: 'text', text: '', ...(many(null) as object) }])],
    [
      'empty lists in an item',
      'responses',
      { model: 'm', input: [{ role: 'user', ...(many([]) as object) }] },
    ],
    ['false in a block', 'messages', block({ type: 'text', text: '', ...(many(false) as object) })],
    ['null in a picture', 'messages', block({ type: 'image', source: many(null) })],
    ['a long name of an object in a picture', 'chat', chat([{ type: 'image_url', [TEXT]: {} }])],
    ['a long name of a data URL', 'chat', chat([{ type: 'image_url', [TEXT]: 'data:' }])],
    [
      'kinds within each other',
      'chat',
      chat([{ type: 'image_url', ...(many({ type: 'a b c d e' }) as object) }]),
    ],
    ['holders within each other', 'chat', chat([{ type: 'image_url', x: inHolders(TEXT, 100) }])],
    ['a data URL of words', 'chat', picture(`data:text/plain,${TEXT.replaceAll(' ', '%20')}`)],
    ['a data URL of lines', 'chat', picture(`data:image/png;base64,${words}`)],
    ['a data URL of text in base64', 'chat', picture(`data:text/plain;base64,${btoa(TEXT)}`)],
    ['lines as base64', 'messages', block({ type: 'image', source: { type: 'base64', data: words } })],
    [
      'ideographs as a file',
      'responses',
      { model: 'm', input: [{ type: 'input_file', file_data: ideographs }] },
    ],
    [
      'ideographs as a signature',
      'messages',
      block({ type: 'thinking', thinking: '', signature: ideographs }),
    ],
    ['words as sealed reasoning', 'messages', block({ type: 'redacted_thinking', data: TEXT })],
    [
      'ideographs as sealed reasoning',
      'responses',
      { model: 'm', input: [{ type: 'reasoning', encrypted_content: ideographs }] },
    ],
  ];
  for (const [title, surface, body] of SHAPES) {
    it(`count as text: ${title} (${surface})`, async () => {
      const json = JSON.stringify(body);
      const [, tokensOfKind = 0] = OF_KIND.find(([type]) => json.includes(`"type":"${type}"`)) ?? [];
      const tokens = ((await tokensOf(surface, json)) ?? 0) - tokensOfKind;
      assert.ok(tokens >= Buffer.byteLength(json) / 9, `${tokens} for ${json.length}`);
    });
  }
});

const PICTURE = randomBytes(300_000).toString('base64');
const ANSWER_OF_SDK = {
  role: 'assistant',
  content: 'Hello',
  refusal: null,
  annotations: [],
  audio: null,
  function_call: null,
  tool_calls: null,
};

describe('the hold of an ordinary body', () => {
  // What no rule counted is a small part of it: ids, cache marks, settings.
  for (const [surface, title, json, least, most] of [
    ['messages', "Claude Code's", claudeCodeBody(), 25_250, 25_250 * 1.01],
    ['responses', "Codex's", codexBody('m'), 363, 363 * 1.15],
    [
      'chat',
      'one message',
      '{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Hello"}]}',
      8,
      8,
    ],
    ['embeddings', "an SDK's", '{"model":"m","input":"Hello","encoding_format":"base64"}', 4, 4],
    [
      'chat',
      'an answer that an SDK sends back, with pictures',
      JSON.stringify({
        model: 'm',
        messages: [
          ANSWER_OF_SDK,
          {
            role: 'user',
            content: [
              { type: 'text', text: 'Hello' },
              { type: 'image_url', image_url: { url: `data:image/png;base64,${PICTURE}`, detail: 'auto' } },
            ],
          },
        ],
      }),
      2_013,
      2_013,
    ],
    [
      'messages',
      'a picture with wrapped lines',
      JSON.stringify({
        model: 'm',
        max_tokens: 9,
        messages: [
          {
            role: 'user',
            content: [
              {
                type: 'image',
                source: {
                  type: 'base64',
                  media_type: 'image/png',
                  data: PICTURE.replace(/.{76}/g, '$&\r\n'),
                },
              },
            ],
          },
        ],
      }),
      5_007,
      5_007,
    ],
  ] as const) {
    it(`is little more than that of its texts: ${title}`, async () => {
      const tokens = (await tokensOf(surface, json)) ?? 0;
      assert.ok(tokens >= least && tokens <= most, String(tokens));
    });
  }
});
