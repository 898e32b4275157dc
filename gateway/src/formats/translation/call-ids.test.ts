import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CallIds, callIdsOf, withUniqueCalls } from './call-ids.ts';
import type { ReasoningPart, ToolCallPart, Turn } from './conversation.ts';

const call = (id: string, name = 'f'): ToolCallPart => ({
  type: 'toolCall',
  id,
  kind: 'function',
  name,
  arguments: '{}',
});
const result = (callId: string, text: string) =>
  ({ type: 'toolResult', callId, parts: [{ type: 'text', text }] }) as const;
const called = (...parts: (ToolCallPart | ReasoningPart)[]): Turn => ({ role: 'assistant', parts });
const answered = (...parts: ReturnType<typeof result>[]): Turn => ({ role: 'user', parts });

describe('the ids of an answer’s calls', () => {
  it('are the provider’s, unless the conversation or the answer has them already', () => {
    const ids = new CallIds({ requestId: 'req_a-1', callIds: ['call_0'] });
    assert.deepEqual(
      ['call_0', 'call_7', 'call_7', '', ' '].map((id) => ids.give(id)),
      ['call_a1_0', 'call_7', 'call_a1_2', 'call_a1_3', 'call_a1_4'],
    );
  });

  it('differ between requests where the provider gives none', () => {
    const [one, other] = ['req_1', 'req_2'].map((requestId) => new CallIds({ requestId }).give(''));
    assert.notEqual(one, other);
  });

  it('are compared with the latest ten thousand of a conversation, none of them longer than 128 characters', () => {
    const calls = Array.from({ length: 10_002 }, (_, index) => call(`c${index}`));
    const kept = callIdsOf([called(...calls), called(call('x'.repeat(129)))]);
    assert.deepEqual([kept.length, kept[0], kept.at(-1)], [10_000, 'c2', 'c10001']);
  });
});

describe('a conversation that repeats an id', () => {
  const idsIn = (turns: readonly Turn[]) =>
    turns.flatMap(({ parts }) =>
      parts.flatMap((part) =>
        part.type === 'toolCall' ? part.id : part.type === 'toolResult' ? `=${part.callId}` : [],
      ),
    );

  for (const [title, turns, ids] of [
    [
      'over its turns',
      [called(call('a')), answered(result('a', '1')), called(call('a')), answered(result('a', '2'))],
      ['a', '=a', 'a_2', '=a_2'],
    ],
    [
      'within a turn',
      [called(call('a'), call('a')), answered(result('a', '1'), result('a', '2'))],
      ['a', 'a_2', '=a', '=a_2'],
    ],
    [
      'whose first call has no result',
      [called(call('a')), called(call('a')), answered(result('a', '1'), result('a', 'again'))],
      ['a', 'a_2', '=a_2', '=a_2'],
    ],
    [
      'beside an id that is like the new one',
      [called(call('a'), call('a_2')), called(call('a')), answered(result('a', '1'))],
      ['a', 'a_2', 'a_3', '=a_3'],
    ],
    ['nowhere', [called(call('a'), call('b')), answered(result('b', '1'))], ['a', 'b', '=b']],
  ] as const) {
    it(title, () => assert.deepEqual(idsIn(withUniqueCalls(turns)), ids));
  }

  it('keeps what a provider gave with a call beside it', () => {
    const seal = { kind: 'extra', id: 'a', value: '{}' } as const;
    const sealed = called({ type: 'reasoning', text: '', seal }, call('a'));
    const [, , last] = withUniqueCalls([sealed, answered(result('a', '1')), sealed]);
    assert.deepEqual(
      last,
      called({ type: 'reasoning', text: '', seal: { ...seal, id: 'a_2' } }, call('a_2')),
    );
  });

  it('takes time in proportion to its calls', () => {
    const turn = called(...Array.from({ length: 100_000 }, () => call('a')));
    assert.equal(new Set(idsIn(withUniqueCalls([turn, turn]))).size, 200_000);
  });
});
