import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { callsOf, upstreamBody } from '../../testing/test-call.ts';
import { countTokens } from '../../tokens/count-tokens.ts';
import { readRequest } from '../read-request.ts';
import { completions } from './index.ts';

const callOf = async (body: object | string) => (await callsOf('completions', body))();

async function issueOf(endpoint: 'completions' | 'embeddings', members: string) {
  const reading = await readRequest(endpoint, Buffer.from(`{"model":"m",${members}}`));
  return reading.kind === 'refused' ? reading.issue : undefined;
}

const MANY = JSON.stringify(Array(2_049).fill('a'));

describe('a call of completions', () => {
  for (const [members, param] of [
    ['"prompt":7', 'prompt'],
    ['"prompt":[]', 'prompt'],
    ['"prompt":[[]]', 'prompt'],
    ['"prompt":["a",1]', 'prompt'],
    ['"prompt":[1,[2]]', 'prompt'],
    ['"prompt":[-1]', 'prompt'],
    ['"prompt":[1.5]', 'prompt'],
    ['"prompt":{"text":"a"}', 'prompt'],
    [`"prompt":${MANY}`, 'prompt'],
    ['"prompt":"a","Prompt":"b"', 'prompt'],
    ['"prompt":"a","suffix":[]', 'suffix'],
    ['"prompt":"a","n":0', 'n'],
    ['"prompt":"a","best_of":129', 'best_of'],
    ['"prompt":"a","max_tokens":-1', 'max_tokens'],
    ['"prompt":"a","max_tokens":"5"', 'max_tokens'],
    ['"prompt":"a","stream":"yes"', 'stream'],
    ['"prompt":"a","stream_options":[]', 'stream_options'],
  ] as const) {
    it(`is refused for ${param} in {${members.slice(0, 60)}}`, async () => {
      const issue = await issueOf('completions', members);
      assert.deepEqual([issue?.status, issue?.param], [400, param]);
    });
  }

  for (const [title, body, choices, texts, tokens] of [
    ['a text', { prompt: 'Hello there' }, 1, ['Hello there'], 3],
    ['no prompt', {}, 1, ['<|endoftext|>'], 3],
    ['several texts', { prompt: ['Hello', 'there'] }, 2, ['Hello', 'there'], 3],
    ['the ids of tokens', { prompt: [1, 2, 3] }, 1, [], 6],
    ['several lists of ids', { prompt: [[1, 2], [3]] }, 2, [], 6],
    ['several answers for each', { prompt: ['a', 'b'], n: 3 }, 6, ['a', 'b'], 3],
    ['the best of several', { prompt: ['a', 'b'], n: 2, best_of: 5 }, 10, ['a', 'b'], 3],
    ['a suffix', { prompt: 'a', suffix: 'Hello' }, 1, ['a', 'Hello'], 3],
  ] as const) {
    it(`is sized by what a model reads and generates: ${title}`, async () => {
      const call = await callOf(body);
      assert.equal(call.choices, choices);
      assert.equal(call.promptTokens, tokens + (await countTokens(texts)));
      assert.deepEqual(call.uncountableParts, []);
    });
  }

  it('generates sixteen tokens unless it says how many, and may generate none', async () => {
    assert.equal((await callOf({ prompt: 'a' })).outputCap, 16);
    assert.equal((await callOf({ prompt: 'a', max_tokens: null })).outputCap, 16);
    assert.equal((await callOf({ prompt: 'a', max_tokens: 0, echo: true })).outputCap, 0);
  });

  for (const [before, after] of [
    [
      '{"model":"m","prompt":[1,2.0],"max_tokens":5 , "echo":true}',
      '{"model":"up","prompt":[1,2.0],"max_tokens":9 , "echo":true}',
    ],
    [
      '{"model":"m","prompt":"a","stream":true}',
      '{"model":"up","max_tokens":9,"stream_options":{"include_usage":true},"prompt":"a","stream":true}',
    ],
  ] as const) {
    it(`sends ${before} on byte for byte but for what it must change`, async () => {
      // Whatever the provider's chat reads, completions have one name of the cap.
      for (const outputLimit of ['both', 'max_completion_tokens'] as const) {
        const sent = upstreamBody('completions', await callOf(before), { outputCap: 9, outputLimit });
        assert.equal(sent, after);
      }
    });
  }
});

describe('an answer of completions', () => {
  const choice = (text: string, index: number) => ({ text, index, logprobs: null, finish_reason: 'stop' });

  it('is counted by the texts of its choices', async () => {
    const body = JSON.stringify({
      object: 'text_completion',
      choices: [choice('Hello', 0), choice('there', 1)],
    });
    const answer = completions.readAnswer(Buffer.from(body));
    assert.equal(await answer?.generated.countTokens(countTokens), 2);
    assert.deepEqual([answer?.hasContent, answer?.usage], [true, undefined]);
  });

  it('hides the usage of a stream from a caller that did not ask, and counts its texts', async () => {
    const chunk = (members: object) =>
      `data: ${JSON.stringify({ object: 'text_completion', ...members })}\n\n`;
    const stream = completions.openStream({ showsUsage: false, choices: 1 });
    const text = { choices: [{ text: 'Hello', index: 0, finish_reason: null }] };
    const end = { choices: [{ text: '', index: 0, finish_reason: 'stop' }] };
    const usage = { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 };
    const events = [
      chunk({ ...text, usage: null }),
      chunk({ ...end, usage: null }),
      chunk({ choices: [], usage }),
    ];
    const passed = stream.push(Buffer.from(`${events.join('')}data: [DONE]\n\n`)).toString();
    assert.equal(passed, chunk(text) + chunk(end));
    assert.equal(stream.end().toString(), 'data: [DONE]\n\n');
    assert.equal(stream.usage?.completionTokens, 1);
    assert.equal(await stream.countGenerated(countTokens), 1);
  });
});

describe('a call of embeddings', () => {
  for (const members of [
    '"x":1',
    '"input":null',
    '"input":[]',
    '"input":[{}]',
    '"input":[1,"a"]',
    `"input":${MANY}`,
  ]) {
    it(`is refused for {${members.slice(0, 40)}}`, async () => {
      const issue = await issueOf('embeddings', members);
      assert.deepEqual([issue?.status, issue?.param], [400, 'input']);
    });
  }

  it('generates nothing, and goes on byte for byte but for the model', async () => {
    const body =
      '{ "input" : [[1,2],[3]], "model":"m" ,"encoding_format":"base64","dimensions":2.56E2,"stream":true}';
    const call = (await callsOf('embeddings', body))();
    assert.deepEqual(
      [call.choices, call.outputCap, call.isStream, call.promptTokens],
      // Two of them for `stream`, which is no member of this format.
      [0, undefined, false, 8],
    );
    assert.equal(upstreamBody('embeddings', call, { outputCap: 9 }), body.replace('"m"', '"up"'));
  });
});
