import assert from 'node:assert/strict';
import { it } from 'node:test';
import { eventOfError, eventsWithin } from './joined-events.ts';

for (const [title, data, events] of [
  ['an error in a list', '[{"error":{"code":503}}]', ['{"error":{"code":503}}']],
  ['two lines that are an event each', '{"a":1}\n{"b":2}\n[DONE]', ['{"a":1}', '{"b":2}', '[DONE]']],
  ['one event over two lines', '{"a":\n1}', undefined],
  ['one event', '{"a":1}', undefined],
  ['the end mark', '[DONE]', undefined],
  ['a list of texts', '["a"]', undefined],
  ['two lines of text', 'a\nb', undefined],
] as const) {
  it(`are found in the data of one: ${title}`, () => assert.deepEqual(eventsWithin(data), events));
}

for (const [title, text, event] of [
  ['its field', 'error: {"code":500}\n\n', 'event: error\ndata: {"code":500}\n\n'],
  ['its members', '{\n"detail":"no"\n}', 'data: { "detail":"no" }\n\n'],
  ['an answer', '{"choices":[]}', undefined],
  ['a comment', ': {"error":"no"}\n\n', undefined],
  ['a text', 'error: no\n\n', undefined],
] as const) {
  it(`is an event of its own for an error without data: ${title}`, () =>
    assert.equal(eventOfError(text), event));
}
