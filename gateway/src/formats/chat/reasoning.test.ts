import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { translateAnswer, translateRequest } from '../translation/index.ts';
import { notesWith, translatedStream } from '../translation/testing.fixture.ts';

const OPTIONS = { requestId: 'req_1', createdSeconds: 1, promptTokens: 1, keep: ['reasoning_content'] };
const USER = { role: 'user', content: 'Hi' };
const CALL = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
const answerWith = (message: object) => ({
  id: 'a',
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: null, ...message }, finish_reason: 'stop' }],
});

describe('reasoning that a chat provider wants back as plain text', () => {
  const answer = answerWith({ reasoning_content: 'Ask.', tool_calls: [CALL] });

  it('comes back through messages, whose clients keep what is signed', () => {
    const message = translateAnswer('chat', 'messages', answer, notesWith({ keepsReasoning: true }));
    const content = message?.['content'] as { type: string; thinking: string; signature: string }[];
    assert.deepEqual([content[0]?.type, content[0]?.thinking], ['thinking', 'Ask.']);
    const body = { model: 'm', max_tokens: 9, messages: [USER, { role: 'assistant', content }] };
    const { body: sent, dropped } = translateRequest('messages', 'chat', body, OPTIONS);
    assert.equal((sent['messages'] as { reasoning_content: string }[])[1]?.reasoning_content, 'Ask.');
    assert.deepEqual(dropped, []);
    const elsewhere = translateRequest('messages', 'chat', body, { ...OPTIONS, keep: [] });
    assert.ok(!JSON.stringify(elsewhere.body).includes('Ask.'));
    assert.deepEqual(elsewhere.dropped, ['thinking']);
  });

  it('comes back through responses without its summary', () => {
    const notes = notesWith({ keepsReasoning: true });
    const [item, ...rest] = (translateAnswer('chat', 'responses', answer, notes)?.['output'] ??
      []) as object[];
    const input = [USER, { ...item, summary: [] }, ...rest];
    const { body } = translateRequest('responses', 'chat', { model: 'm', input }, OPTIONS);
    assert.equal((body['messages'] as { reasoning_content: string }[])[1]?.reasoning_content, 'Ask.');
  });

  it('has no seal where the provider does not want it', () => {
    const [block] = (translateAnswer('chat', 'messages', answer, notesWith())?.['content'] ?? []) as object[];
    assert.deepEqual(block, { type: 'thinking', thinking: 'Ask.', signature: '' });
  });

  it('has no seal beyond 512 Ki characters, whole or in pieces', () => {
    const text = 'x'.repeat(512 * 1024 + 1);
    const long = answerWith({ reasoning_content: text, content: 'Hi' });
    const notes = notesWith({ keepsReasoning: true });
    const [block] = (translateAnswer('chat', 'messages', long, notes)?.['content'] ?? []) as {
      signature: string;
    }[];
    assert.equal(block?.signature, '');
    const pieces = [text.slice(1), 'xx'].map((reasoning_content) => ({
      id: 'a',
      choices: [{ index: 0, delta: { reasoning_content } }],
    }));
    const end = { choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: 'stop' }] };
    const events = translatedStream('chat', 'messages', [...pieces, end], { keepsReasoning: true });
    assert.ok(events.length > 4);
    assert.ok(!JSON.stringify(events).includes('gatehouse.v1.'));
  });
});

describe('reasoning under a name of its own', () => {
  for (const member of ['reasoning', 'reasoning_text', 'thinking']) {
    it(`is read from ${member}`, () => {
      const answer = translateAnswer('chat', 'messages', answerWith({ [member]: 'Hm.' }), notesWith());
      assert.deepEqual(answer?.['content'], [{ type: 'thinking', thinking: 'Hm.', signature: '' }]);
    });
  }
});

describe('reasoning in the parts of a content', () => {
  const thinking = {
    type: 'thinking',
    thinking: [
      { type: 'text', text: 'Hm' },
      { type: 'text', text: '.' },
    ],
  };
  const parts = [thinking, { type: 'text', text: 'Yes.' }];

  it('is read from an answer', () => {
    const answer = translateAnswer('chat', 'messages', answerWith({ content: parts }), notesWith());
    assert.deepEqual(answer?.['content'], [
      { type: 'thinking', thinking: 'Hm.', signature: '' },
      { type: 'text', text: 'Yes.' },
    ]);
  });

  it('is left out where the caller sends it back to a provider that cannot read it', () => {
    const messages = [USER, { role: 'assistant', content: parts }, USER];
    for (const to of ['messages', 'responses'] as const) {
      const { body, dropped } = translateRequest('chat', to, { model: 'm', messages }, OPTIONS);
      assert.ok(JSON.stringify(body).includes('Yes.') && !JSON.stringify(body).includes('Hm'));
      assert.deepEqual(dropped, ['reasoning_content']);
    }
  });

  it('is read from a stream, as a list or as a text', () => {
    const chunks = [
      [thinking],
      [{ type: 'thinking', thinking: ' So' }],
      [{ type: 'text', text: 'Yes.' }],
    ].map((content) => ({ id: 'a', choices: [{ index: 0, delta: { content } }] }));
    const end = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };
    const events = translatedStream('chat', 'messages', [...chunks, end]);
    const deltas = events.map((event) => (event as { delta?: Record<string, string> }).delta ?? {});
    assert.equal(deltas.map((delta) => delta['thinking'] ?? '').join(''), 'Hm. So');
    assert.equal(deltas.map((delta) => delta['text'] ?? '').join(''), 'Yes.');
  });
});

describe('reasoning_details of a caller', () => {
  const FORMAT = { type: 'reasoning.text', format: 'anthropic-claude-v1' };
  const thought = (thinking: string, signature: string) => ({ type: 'thinking', thinking, signature });
  const sentFor = (reasoning_details: readonly object[]) => {
    const messages = [USER, { role: 'assistant', content: null, reasoning_details, tool_calls: [CALL] }];
    const { body } = translateRequest('chat', 'messages', { model: 'm', messages }, OPTIONS);
    return (body['messages'] as { content: object[] }[])[1]?.content.slice(0, -1);
  };

  for (const [title, details, expected] of [
    [
      'are one where they are the pieces of a stream',
      [
        { ...FORMAT, text: 'I ', index: 0 },
        { ...FORMAT, text: 'think', index: 0 },
        { ...FORMAT, signature: 's', index: 0 },
        { ...FORMAT, text: 'More', signature: 't', index: 1 },
      ],
      [thought('I think', 's'), thought('More', 't')],
    ],
    [
      'stay apart where each is whole',
      [
        { ...FORMAT, text: 'a', signature: 's' },
        { ...FORMAT, text: 'b', signature: 't' },
      ],
      [thought('a', 's'), thought('b', 't')],
    ],
  ] as const) {
    it(title, () => assert.deepEqual(sentFor(details), expected));
  }
});
