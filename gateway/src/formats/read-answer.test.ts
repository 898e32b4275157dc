import assert from 'node:assert/strict';
import { it } from 'node:test';
import { readAnswer } from './read-answer.ts';

const MARK = '\ufeff';
const choices = [{ index: 0, message: { role: 'assistant', content: 'Hi' } }];

it('an error that comes as events stays as it came', async () => {
  const bytes = Buffer.from('data: {"error":{"message":"slow"}}\n\ndata: [DONE]\n\n');
  const { result, body } = await readAnswer(bytes, { surface: 'chat', status: 429, secret: undefined });
  assert.deepEqual([result.upstreamError, body.toString()], ['slow', bytes.toString()]);
});

it('an error that comes as an event is no answer', async () => {
  const bytes = Buffer.from('data: {"error":{"message":"no worker"}}\n\ndata: [DONE]\n\n');
  const { result } = await readAnswer(bytes, { surface: 'chat', status: 200, secret: undefined });
  assert.deepEqual([result.isAnswer, result.upstreamError], [false, 'no worker']);
});

for (const [status, value, isAnswer, error] of [
  [200, { choices }, true, null],
  [400, { error: { message: 'no' } }, false, 'no'],
] as const) {
  it(`an answer of ${status} is read between a byte order mark and the end mark of a stream`, async () => {
    const form = { surface: 'chat', status, secret: undefined } as const;
    const { result, body } = await readAnswer(
      Buffer.from(`${MARK}${JSON.stringify(value)}\n\ndata: [DONE]\n\n`),
      form,
    );
    assert.deepEqual([result.isAnswer, result.upstreamError], [isAnswer, error]);
    assert.deepEqual(JSON.parse(body.toString()), value);
  });
}
