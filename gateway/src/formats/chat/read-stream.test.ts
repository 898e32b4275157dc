import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { chunk, DONE, delta, usageOf } from '../../testing/mock-provider.ts';
import { countTokens } from '../../tokens/count-tokens.ts';
import { chat } from './index.ts';

const usage = usageOf({ prompt: 9, completion: 4 });

/** Passes the stream through in packets that end at these bytes. */
function pass(
  pieces: readonly string[],
  options: { showsUsage?: boolean; choices?: number; at?: number[] } = {},
) {
  const stream = chat.openStream({ showsUsage: options.showsUsage ?? false, choices: options.choices ?? 1 });
  const bytes = Buffer.from(pieces.join(''));
  const ends = [...(options.at ?? []), bytes.length];
  const passed = ends.map((end, index) => stream.push(bytes.subarray(ends[index - 1] ?? 0, end)));
  return { stream, passed: Buffer.concat(passed).toString(), tail: stream.end().toString() };
}

describe('a stream of chat', () => {
  const hello = chunk({ ...delta('Hé☕'), usage: null });
  const shownHello = chunk(delta('Hé☕'));
  const stop = chunk({ ...delta('', 'stop'), usage: null }, '\r\n\r\n');
  const shownStop = chunk(delta('', 'stop'), '\r\n\r\n');
  const onlyUsage = chunk({ choices: [], usage });

  it('hides usage from a caller that did not ask, wherever the packets split', () => {
    const pieces = [': ping\n\n', hello, stop, onlyUsage, DONE];
    const { length } = Buffer.from(pieces.join(''));
    for (let at = 0; at < length; at += 1) {
      const { stream, passed, tail } = pass(pieces, { at: [at] });
      assert.equal(passed, `: ping\n\n${shownHello}${shownStop}`);
      assert.equal(tail, DONE);
      assert.deepEqual(stream.usage, { promptTokens: 9, completionTokens: 4 });
      assert.ok(stream.hasContent && stream.isDone && stream.isComplete);
    }
  });

  it('shows everything to a caller that asked, and keeps back the end mark all the same', () => {
    const { passed, tail } = pass([hello, stop, onlyUsage, DONE], { showsUsage: true });
    assert.equal(passed, hello + stop + onlyUsage);
    assert.equal(tail, DONE);
  });

  it('shows usage without choices with an empty list of them, which clients go through', () => {
    for (const choices of [{ choices: null }, {}]) {
      const { passed } = pass([hello, chunk({ ...choices, usage })], { showsUsage: true });
      assert.equal(passed, hello + chunk({ ...choices, usage, choices: [] }));
    }
  });

  for (const [title, event] of [
    ['a comment', ': keep-alive\n\n'],
    ['blank lines', '\n\r\n'],
    ['another event', 'event: ping\nid: 4\n\n'],
    ['data that is no JSON', 'data: {"usage":nul\n\n'],
    ['JSON that is no object', 'data: ["usage"]\n\n'],
    ['odd formatting', 'data:{ "choices" : [ ] ,"x":1.50,"y":12345678901234567890}\n\n'],
    ['usage further inside', 'data: {"choices":[{"usage":null,"delta":{"usage":{}}}]}\n\n'],
  ] as const) {
    it(`passes unchanged: ${title}`, () => assert.equal(pass([event]).passed, event));
  }

  it('cuts usage out of a chunk with content and leaves its other bytes', () => {
    const event = `data: {"choices":[{"index":0,"delta":{"content":"$& $1"}}] , "usage" :${JSON.stringify(usage)},"n":1.0}\n\n`;
    const { stream, passed } = pass([event]);
    assert.equal(passed, 'data: {"choices":[{"index":0,"delta":{"content":"$& $1"}}],"n":1.0}\n\n');
    assert.deepEqual(stream.usage, { promptTokens: 9, completionTokens: 4 });
  });

  it('cuts usage out of data in several lines', () => {
    const { passed } = pass(['id: 1\ndata: {"choices":[{}],\ndata: "usage":null}\n\n']);
    assert.equal(passed, 'id: 1\ndata: {"choices":[{}]}\n\n');
  });

  it('believes the last usage that can be true', () => {
    const { stream } = pass([
      chunk({ ...delta('a'), usage: usageOf({ prompt: 9, completion: 1 }) }),
      chunk({ ...delta('b'), usage }),
      chunk({ choices: [], usage: usageOf({ prompt: -1, completion: 2 }) }),
      chunk({ choices: [], usage: usageOf({ prompt: 1e300, completion: 2 }) }),
      chunk({ choices: [], usage: { prompt_tokens: '3' } }),
    ]);
    assert.deepEqual(stream.usage, { promptTokens: 9, completionTokens: 4 });
  });

  for (const [title, members] of [
    ['reasoning', { reasoning_content: 'hm' }],
    ['reasoning by its other name', { reasoning: 'hm' }],
    ['a refusal', { refusal: 'no' }],
    ['the call of a tool', { tool_calls: [{ index: 0, function: { name: 'f', arguments: '' } }] }],
    ['the arguments of a tool', { tool_calls: [{ index: 0, function: { arguments: '{' } }] }],
    ['the call of a function', { function_call: { name: 'f' } }],
    ['spoken words', { audio: { transcript: 'hm' } }],
  ] as const) {
    it(`counts ${title} as content`, async () => {
      const { stream } = pass([chunk({ choices: [{ index: 0, delta: members }] })]);
      assert.equal(stream.hasContent, true);
      assert.equal(await stream.countGenerated(countTokens), 1);
    });
  }

  it('reads messages in place of deltas, and none that repeats the deltas', async () => {
    const say = (members: object) => chunk({ choices: [{ index: 0, finish_reason: null, ...members }] });
    const message = { role: 'assistant', content: 'hello' };
    const { stream } = pass([say({ delta: null, message }), say({ message })]);
    assert.equal(await stream.countGenerated(countTokens), await countTokens(['hellohello']));
    const repeated = pass([say({ delta: { content: 'hello' } }), say({ message })]).stream;
    assert.equal(await repeated.countGenerated(countTokens), 1);
  });

  for (const [title, event, error] of [
    ["llama.cpp's field", 'error: {"code":500,"message":"no slot"}', 'no slot'],
    ['JSON in no field', '{\n  "error": {"message": "no worker"}\n}', 'no worker'],
  ] as const) {
    it(`shows an error that clients would not read: ${title}`, () => {
      const { stream, tail } = pass([hello, event]);
      assert.deepEqual([stream.upstreamError, stream.isComplete], [error, true]);
      assert.ok(JSON.parse(/^data: (.*)$/m.exec(tail)?.[1] ?? '').error.message === error);
    });
  }

  it('fails where Groq says beside an end that it stopped early', () => {
    const { stream, passed, tail } = pass([
      hello,
      chunk({ ...delta('', 'stop'), x_groq: { error: 'busy' } }),
      DONE,
    ]);
    assert.equal(stream.upstreamError, 'busy');
    assert.match(passed, /"error":\{"message":"busy"/);
    assert.equal(tail, '');
  });

  it('does not count the role as content', () => {
    const role = chunk({ choices: [{ index: 0, delta: { role: 'assistant', content: '' } }] });
    assert.equal(pass([role]).stream.hasContent, false);
  });

  it('counts the words of interleaved choices apart', async () => {
    const say = (index: number, content: string) => chunk({ choices: [{ index, delta: { content } }] });
    const { stream } = pass([say(0, 'hel'), say(1, 'wor'), say(0, 'lo'), say(1, 'ld')]);
    assert.equal(await stream.countGenerated(countTokens), 2);
  });

  it('is complete with the end mark, with the finish of every choice, and with an error', () => {
    assert.equal(pass([hello]).stream.isComplete, false);
    assert.equal(pass([hello, stop]).stream.isComplete, true);
    assert.equal(pass([hello, stop], { choices: 2 }).stream.isComplete, false);
    assert.equal(pass([hello, DONE], { choices: 2 }).stream.isComplete, true);
    const { stream } = pass(['data: {"error":{"message":"overloaded"}}\n\n']);
    assert.equal(stream.isComplete, true);
    assert.equal(stream.upstreamError, 'overloaded');
  });

  it('reads a last event that lacks its blank line', () => {
    const { stream, passed, tail } = pass([hello, stop, 'data: [DONE]']);
    assert.equal(passed, shownHello + shownStop);
    assert.equal(tail, 'data: [DONE]');
    assert.equal(stream.isDone, true);
    assert.equal(pass([hello, stop.trimEnd()]).tail, shownStop.trimEnd());
  });

  it('drops what follows the end mark', () => {
    const { passed, tail } = pass([hello, DONE, hello, 'data: [DONE]\n\n']);
    assert.equal(passed + tail, shownHello + DONE);
  });
});
