import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { calledTools } from './called-tools.ts';
import { compose } from './compose.ts';
import type { EchoConversation, EchoTool } from './conversation.ts';
import { LARGE_ECHO } from './echo-bounds.ts';
import { unitVector } from './embeddings-echo.ts';

const look: EchoTool = { name: 'look', isCustom: false, description: '', schema: undefined };
const patch: EchoTool = { name: 'patch', isCustom: true, description: '', schema: undefined };

function conversation(text: string, members: Partial<EchoConversation> = {}): EchoConversation {
  return {
    turns: [{ by: 'user', text }],
    tools: [look, patch],
    toolChoice: undefined,
    isOneCallAtMost: false,
    schema: undefined,
    cap: Number.POSITIVE_INFINITY,
    ...members,
  };
}

const answerTo = async (given: EchoConversation) => (await compose(given, LARGE_ECHO)).answer;
const textOf = async (given: EchoConversation) =>
  (await answerTo(given)).parts.map(({ text }) => text).join('|');

describe('what the echo answers', () => {
  it('is what the user said last, or what the tools said since', async () => {
    assert.equal(await textOf(conversation('Hé ☕\n')), 'Hé ☕\n');
    const turns = [
      { by: 'user', text: 'first' },
      { by: 'tool', text: 'old' },
      { by: 'user', text: 'Call the tool look with {}' },
      { by: 'tool', text: 'one' },
      { by: 'tool', text: 'two' },
      { by: 'other', text: 'nothing' },
    ] as const;
    assert.equal(await textOf(conversation('', { turns })), 'one\ntwo');
    const reminded = [...turns, { by: 'user', text: 'A reminder of the client.' }] as const;
    assert.equal(await textOf(conversation('', { turns: reminded })), 'one\ntwo');
    const asked = [...turns, { by: 'model', text: 'Done.' }, { by: 'user', text: 'Thanks' }] as const;
    assert.equal(await textOf(conversation('', { turns: asked })), 'Thanks');
    assert.match(await textOf(conversation('')), /^Say something/);
  });

  it('is no longer than the cap, and says so', async () => {
    const short = await answerTo(conversation('one two three', { cap: 2 }));
    assert.deepEqual(short, {
      parts: [{ kind: 'text', text: 'one two' }],
      finish: 'length',
      tokens: 2,
    });
    const call = await answerTo(conversation('Call the tool look with {"a": "b c d e f"}', { cap: 3 }));
    assert.equal(call.finish, 'length');
    assert.ok(call.tokens <= 3);
    const none = await answerTo(conversation('Call the tool look with {}', { cap: 0 }));
    assert.deepEqual(none, { parts: [], finish: 'length', tokens: 0 });
  });

  it('is the smallest value of a schema', async () => {
    const schema = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] };
    assert.equal(await textOf(conversation('Hi', { schema })), '{"ok":false}');
  });
});

describe('the tools that the echo calls', () => {
  const called = (text: string, members: Partial<EchoConversation> = {}) =>
    calledTools(text, conversation(text, members), LARGE_ECHO).calls.map(({ tool, input }) => [
      tool.name,
      input,
    ]);

  for (const [text, expected] of [
    ['Call the tool look with {"at": "a}\\"{"}, please.', [['look', '{"at": "a}\\"{"}']]],
    ['<context>x</context>\nCall the tool look with {"a":{"b":[{}]}}', [['look', '{"a":{"b":[{}]}}']]],
    [
      'Call the tool look with {} and Call the tool look with {"x":1}',
      [
        ['look', '{}'],
        ['look', '{"x":1}'],
      ],
    ],
    ['Call the tool patch with {"input":"*** Begin"}', [['patch', '*** Begin']]],
    ['Call the tool patch with {"other":1}', [['patch', '{"other":1}']]],
    ['Call the tool other with {}', []],
    ['Call the tool look with {"a":', []],
    ['Call the tool look with {a}', []],
    ['Call the tool look with 7', []],
    ['call the tool look', []],
  ] as const) {
    it(`are ${JSON.stringify(expected)} for ${text.slice(0, 60)}`, () => {
      assert.deepEqual(called(text), expected);
    });
  }

  it('are as many as the caller takes, and eight at most', () => {
    const many = 'Call the tool look with {} '.repeat(20);
    assert.equal(called(many).length, 8);
    assert.equal(called(many, { isOneCallAtMost: true }).length, 1);
    assert.equal(called(many, { toolChoice: 'none' }).length, 0);
  });

  it('are those that the caller forces, with the smallest input that fits', () => {
    const schema = { type: 'object', properties: { n: { type: 'integer', minimum: 3 } }, required: ['n'] };
    const tools = [{ ...look, schema }, patch];
    assert.deepEqual(called('Hi', { tools, toolChoice: 'required' }), [['look', '{"n":3}']]);
    assert.deepEqual(called('Hi', { tools, toolChoice: { name: 'patch' } }), [['patch', 'Hi']]);
    assert.deepEqual(called('Hi', { tools, toolChoice: { name: 'other' } }), []);
    assert.deepEqual(called('Hi', { tools: [], toolChoice: 'required' }), []);
  });

  it('are found in time in a text that is all beginnings', () => {
    assert.deepEqual(called('Call the tool look with {'.repeat(100_000)), []);
  });
});

describe('the vector of a text', () => {
  const dot = (one: Float32Array, other: Float32Array) =>
    one.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0);

  it('has length 1, is always the same, and is near those of texts with the same words', () => {
    for (const text of ['', '☕', 'The quick brown fox', 'x '.repeat(10_000)]) {
      for (const dimensions of [1, 2, 256, 3_072]) {
        const vector = unitVector(text, dimensions);
        assert.equal(vector.length, dimensions);
        assert.ok(Math.abs(dot(vector, vector) - 1) < 1e-5, text.slice(0, 20));
        assert.deepEqual(unitVector(text, dimensions), vector);
      }
    }
    const fox = unitVector('the quick brown fox', 256);
    const near = dot(fox, unitVector('The brown fox is quick.', 256));
    const far = dot(fox, unitVector('invoices are due on Monday', 256));
    assert.ok(near > 0.6 && Math.abs(far) < 0.4, `${near} ${far}`);
  });
});
