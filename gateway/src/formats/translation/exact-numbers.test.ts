import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isJsonObject, type JsonObject } from '../../wire/json.ts';
import { readAnswer } from '../read-answer.ts';
import { translateCall } from '../translate-call.ts';
import { TRANSLATED_FORMATS, type TranslatedFormat } from './feature-table.ts';
import { sealOfText } from './reasoning.ts';
import { chunk, createStreamTranslator, notesWith, OPTIONS } from './testing.fixture.ts';

// Numbers arrive as they were sent, though most formats hold a tool's arguments as text and messages holds them parsed.

const DIRECTIONS = TRANSLATED_FORMATS.flatMap((from) =>
  TRANSLATED_FORMATS.filter((to) => to !== from).map((to) => [from, to] as const),
);
const INPUT = '{"id":9007199254740993,"ids":[18446744073709551615,-0],"rate":1.0,"most":1e400}';
const SCHEMA =
  '{"type":"object","properties":{"id":{"type":"integer","maximum":9007199254740993,"multipleOf":1.0}}}';
const quoted = JSON.stringify;

const REQUESTS: Readonly<Record<TranslatedFormat, string>> = {
  chat: `{"model":"m","max_completion_tokens":5e1,"temperature":1.0,"messages":[{"role":"user","content":"Hi"},
    {"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":${quoted(INPUT)}}}]},
    {"role":"tool","tool_call_id":"c","content":"9007199254740993"}],
    "tools":[{"type":"function","function":{"name":"f","parameters":${SCHEMA}}}],
    "response_format":{"type":"json_schema","json_schema":{"name":"n","schema":${SCHEMA}}}}`,
  messages: `{"model":"m","max_tokens":50.0,"temperature":1.0,"messages":[{"role":"user","content":"Hi"},
    {"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":${INPUT}}]},
    {"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"9007199254740993"}]}],
    "tools":[{"name":"f","input_schema":${SCHEMA}}],
    "output_config":{"format":{"type":"json_schema","schema":${SCHEMA}}}}`,
  responses: `{"model":"m","max_output_tokens":5e1,"temperature":1.0,"input":[{"role":"user","content":"Hi"},
    {"type":"function_call","call_id":"c","name":"f","arguments":${quoted(INPUT)}},
    {"type":"function_call_output","call_id":"c","output":"9007199254740993"}],
    "tools":[{"type":"function","name":"f","parameters":${SCHEMA}}],
    "text":{"format":{"type":"json_schema","name":"n","schema":${SCHEMA}}}}`,
};

const ANSWERS: Readonly<Record<TranslatedFormat, string>> = {
  chat: `{"id":"a","model":"up","created":1795000007.0,"choices":[{"index":0,"message":{"role":"assistant","content":null,
    "tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":${quoted(INPUT)}}}]},
    "finish_reason":"tool_calls"}],"usage":{"prompt_tokens":7.0,"completion_tokens":3e0}}`,
  messages: `{"id":"a","type":"message","role":"assistant","model":"up",
    "content":[{"type":"tool_use","id":"c","name":"f","input":${INPUT}}],
    "stop_reason":"tool_use","usage":{"input_tokens":7.0,"output_tokens":3e0}}`,
  responses: `{"id":"a","model":"up","status":"completed","created_at":1795000007.0,
    "output":[{"type":"function_call","call_id":"c","name":"f","arguments":${quoted(INPUT)}}],
    "usage":{"input_tokens":7.0,"output_tokens":3e0,"total_tokens":10.0}}`,
};

/** The details that a chat provider wants back with its reasoning and with a call. The name of a member may be escaped. */
const DETAILS = `[{"type":"reasoning.encrypted","data":"x","budget":1.0}]`;
const EXTRA = `{"google":${INPUT}}`;
const CALL = String.raw`{"index":0.0,"id":"c","type":"function","function":{"name":"f","arguments":"{}"},"extra\u005fcontent":${EXTRA}}`;

/** How a body of the format holds the input of a tool. */
function writtenInput(format: TranslatedFormat): string {
  return format === 'messages' ? `"input":${INPUT}` : `"arguments":${quoted(INPUT)}`;
}

function translated(from: TranslatedFormat, to: TranslatedFormat, body: string) {
  return translateCall(Buffer.from(body), { from, to, options: OPTIONS });
}

function refusalOf(from: TranslatedFormat, to: TranslatedFormat, body: string): string | null | undefined {
  const { result } = translated(from, to, body);
  return result.kind === 'refused' ? result.issue.param : undefined;
}

/** The usage in an answer. */
function tokensIn({ usage }: JsonObject): unknown[] {
  if (!isJsonObject(usage)) return [];
  return [
    usage['prompt_tokens'] ?? usage['input_tokens'],
    usage['completion_tokens'] ?? usage['output_tokens'],
  ];
}

async function translatedAnswer(from: TranslatedFormat, to: TranslatedFormat, answer: string) {
  const form = { surface: from, status: 200, secret: undefined, translation: { to, notes: notesWith() } };
  const { result, body } = await readAnswer(Buffer.from(answer), form);
  assert.ok(result.isAnswer);
  assert.deepEqual(structuredClone(result), result);
  return body.toString();
}

function translatedStream(from: TranslatedFormat, to: TranslatedFormat, events: readonly string[]): string {
  const translator = createStreamTranslator(from, to, notesWith());
  const sent = Buffer.from(events.map((data) => `data: ${data}\n\n`).join(''));
  return Buffer.concat([translator.push(sent), translator.end()]).toString();
}

/** The seals of a chat provider that the caller keeps for it. */
function sealsIn(text: string): (string | undefined)[] {
  return [...new Set(text.match(/gatehouse\.v1\.[\w-]+/g))].map((seal) => sealOfText(seal)?.value);
}

describe('numbers of what is translated', () => {
  for (const [from, to] of DIRECTIONS) {
    it(`of a ${from} request reach ${to} as they were sent`, () => {
      const { result, body } = translated(from, to, REQUESTS[from]);
      const text = body.toString();
      assert.ok(result.kind === 'translated', text);
      assert.ok(text.includes(writtenInput(to)), text);
      // Anthropic takes no bounds for its answer's schema: there they are words, with the same figures.
      assert.equal(text.split(SCHEMA).length - 1, to === 'messages' ? 1 : 2, text);
      assert.equal(text.includes('(maximum: 9007199254740993, multipleOf: 1.0)'), to === 'messages', text);
      assert.equal(result.facts.outputCap, 50);
      assert.equal((JSON.parse(text) as JsonObject)['temperature'], 1);
      // What is kept of it crosses threads.
      assert.deepEqual(structuredClone(result.notes), result.notes);
    });
  }

  // Between chat and responses arguments stay the text that they are.
  for (const [from, to] of DIRECTIONS.filter((direction) => direction.includes('messages'))) {
    it(`of a ${from} answer reach ${to} as they were sent`, async () => {
      const text = await translatedAnswer(from, to, ANSWERS[from]);
      assert.ok(text.includes(writtenInput(to)), text);
      assert.deepEqual(tokensIn(JSON.parse(text) as JsonObject), [7, 3]);
    });
  }

  for (const to of ['chat', 'responses'] as const) {
    it(`of an input that is whole as its block begins reach ${to} as they were sent`, () => {
      const block = `{"type":"tool_use","id":"c","name":"f","input":${INPUT}}`;
      const text = translatedStream('messages', to, [
        '{"type":"message_start","message":{"id":"a","model":"up","usage":{"input_tokens":7.0,"output_tokens":0}}}',
        `{"type":"content_block_start","index":0.0,"content_block":${block}}`,
        '{"type":"content_block_stop","index":0.0}',
        '{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":3e0}}',
        '{"type":"message_stop"}',
      ]);
      assert.ok(text.includes(quoted(INPUT)), text);
    });
  }

  for (const to of ['messages', 'responses'] as const) {
    it(`of what a chat provider wants back reach it as they were sent, by way of ${to}`, async () => {
      const message = `{"role":"assistant","content":"Hi","reasoning_details":${DETAILS},"tool_calls":[${CALL}]}`;
      const whole = `{"choices":[{"message":${message},"finish_reason":"tool_calls"}]}`;
      assert.deepEqual(sealsIn(await translatedAnswer('chat', to, whole)), [DETAILS, EXTRA]);
      const text = translatedStream('chat', to, [
        JSON.stringify(chunk({ role: 'assistant', content: '' })),
        `{"choices":[{"delta":{"tool_calls":[${CALL}]}}]}`,
        '{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}',
        '[DONE]',
      ]);
      assert.deepEqual(sealsIn(text), [EXTRA]);
    });
  }

  it('of arguments that a chat provider sends as an object arrive as they were sent', async () => {
    const answer = ANSWERS.chat.replace(quoted(INPUT), INPUT);
    assert.ok((await translatedAnswer('chat', 'messages', answer)).includes(writtenInput('messages')));
  });

  it('is repeated as it was sent in a response', () => {
    const body = `{"model":"m","input":"Hi","temperature":1.0,"text":{"format":{"type":"json_schema","name":"n","schema":${SCHEMA}}}}`;
    const { result } = translated('responses', 'chat', body);
    assert.ok(result.kind === 'translated');
    const translator = createStreamTranslator('chat', 'responses', structuredClone(result.notes));
    const begun = translator
      .push(Buffer.from(`data: ${JSON.stringify(chunk({ role: 'assistant', content: '' }))}\n\n`))
      .toString();
    assert.ok(begun.includes(SCHEMA) && begun.includes('"temperature":1.0,'), begun);
  });

  it('is refused by its name where it is too large, or no number is expected', () => {
    const members = '"model":"m","messages":[{"role":"user","content":"Hi"}]';
    assert.equal(refusalOf('chat', 'messages', `{${members},"temperature":1e400}`), 'temperature');
    assert.equal(
      refusalOf('chat', 'messages', `{${members},"response_format":9007199254740993}`),
      'response_format',
    );
    assert.equal(refusalOf('messages', 'chat', `{${members},"max_tokens":9,"system":1.0}`), 'system');
    assert.equal(refusalOf('chat', 'responses', `{${members},"user":1e400}`), 'user');
  });
});
