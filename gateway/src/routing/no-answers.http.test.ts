import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { chunk, completion, DONE, delta, json, type Script, sse, usageOf } from '../testing/mock-provider.ts';
import { served, USAGE, useRouting } from './routing.fixture.ts';

const routing = await useRouting();
const { first, second, gateway, key } = routing;

const raw =
  (type: string, body: string): Script =>
  (response) => {
    response.writeHead(200, { 'content-type': type });
    response.end(body);
  };
const streamOf = (...events: string[]) => events.join('');
const hello = streamOf(chunk(delta('Hello there.')), chunk(delta('', 'stop')));
const usage = chunk({ choices: [], usage: usageOf(USAGE) });
const streamed = sse(hello, usage, DONE);

// Each is a 200 from the first provider, in which nothing answers the request.
const WHOLE = [
  ['an error', json({ error: { message: 'no capacity' } }), 'no capacity', 502],
  ['an error in another shape', json({ code: 1305, msg: 'no capacity' }), 'no capacity', 502],
  ['an error in a list', json({ detail: [{ loc: ['body'], msg: 'no capacity' }] }), 'no capacity', 502],
  ['an error beside a list of choices', json({ choices: [], error: 'no capacity' }), 'no capacity', 502],
  [
    'no message in the choice',
    json({ choices: [{ index: 0, message: null }] }),
    'answered with something that is no completion',
    502,
  ],
  ['no choices', json({ id: 'x', choices: [] }), 'answered with something that is no completion', 502],
  ['null choices', json({ id: 'x', choices: null }), 'answered with something that is no completion', 502],
  ['null', json('null'), 'answered with something that is no completion', 502],
] as const;
// The last column is the status where no target is left.
const STREAMS = [
  ['an error', sse(chunk({ error: { message: 'no capacity' } }), DONE), 'no capacity', 200],
  ['an error in another shape', sse('data: {"code":1305,"msg":"no capacity"}\n\n', DONE), 'no capacity', 200],
  ['an event that is named error', sse('event: error\ndata: no capacity\n\n', DONE), 'no capacity', 200],
  ['its end mark alone', sse(DONE), 'the stream ended before the answer did', 200],
  ['nothing', sse(), 'the stream ended before the answer did', 200],
  ['an error as JSON', json({ error: { message: 'no capacity' } }), 'no capacity', 502],
] as const;

describe('a 200 that is no answer', () => {
  for (const [stream, cases, answer] of [
    [false, WHOLE, served],
    [true, STREAMS, streamed],
  ] as const) {
    for (const [title, script, error, status] of cases) {
      it(`has the answer of the second target: ${title} (stream: ${stream})`, async () => {
        const model = await routing.addTwo();
        first.script = script;
        second.script = answer;
        const response = await gateway.chat(key.secret, { model, stream });
        assert.equal(response.status, 200);
        assert.match(await response.text(), /Hello there\./);
        const { attempts, tokensGenerated, costMicroPkr } = await routing.recordOf(response);
        assert.deepEqual(
          attempts.map((attempt) => attempt.costMicroPkr),
          [0n, costMicroPkr],
        );
        assert.equal(attempts[0]?.error, error);
        assert.equal(tokensGenerated, USAGE.completion);
      });

      it(`502 in the provider’s words, and costs nothing, where both do so: ${title} (stream: ${stream})`, async () => {
        const model = await routing.addTwo();
        first.script = script;
        second.script = script;
        const response = await gateway.chat(key.secret, { model, stream });
        const text = await response.text();
        assert.equal(response.status, status);
        assert.ok(text.includes('"error"'), text);
        if (error === 'no capacity') assert.ok(text.includes(error), text);
        assert.doesNotMatch(text, /"content"/);
        assert.equal((await routing.recordOf(response)).costMicroPkr, 0n);
      });
    }
  }
});

describe('an answer in other clothes', () => {
  for (const [title, script] of [
    ['events of another content type', raw('application/json', streamOf(hello, usage, DONE))],
    ['events of no content type', raw('', streamOf(hello, usage, DONE))],
    ['JSON', json(completion('Hello there.', USAGE))],
    ['usage after the end mark', raw('text/event-stream', streamOf(hello, DONE, usage))],
    [
      'usage in the choice',
      sse(
        chunk(delta('Hello there.')),
        chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop', usage: usageOf(USAGE) }] }),
        DONE,
      ),
    ],
    [
      'usage under a router’s name',
      sse(hello.replace('"choices"', `"x_groq":{"usage":${JSON.stringify(usageOf(USAGE))}},"choices"`), DONE),
    ],
  ] as const) {
    it(`200 with a stream, billed by the provider’s usage: ${title}`, async () => {
      const model = await routing.addTwo();
      first.script = script;
      const response = await gateway.chat(key.secret, { model, stream: true });
      assert.match(response.headers.get('content-type') ?? '', /^text\/event-stream/);
      const text = await response.text();
      assert.match(text, /"content":"Hello there\."/);
      assert.match(text, /data: \[DONE\]\n\n$/);
      const { promptTokens, tokensGenerated, tokensEstimated } = await routing.recordOf(response);
      assert.deepEqual(
        [promptTokens, tokensGenerated, tokensEstimated],
        [USAGE.prompt, USAGE.completion, false],
      );
    });
  }
});
