import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { describe, it } from 'node:test';
import { MAX_HELD_BYTES, MAX_HELD_MS } from '../attempt/held-stream.ts';
import * as messages from '../testing/mock-messages.ts';
import { chunk, DONE, delta, flush, json, type Script, sse, usageOf } from '../testing/mock-provider.ts';
import * as responses from '../testing/mock-responses.ts';
import { addRoute } from '../testing/test-gateway.ts';
import { credentialOf, endings, failing, served, useRouting } from './routing.fixture.ts';

const bench = await useRouting();
const { gateway, key, first, second } = bench;

const ROLE = chunk({ choices: [{ index: 0, delta: { role: 'assistant' }, finish_reason: null }] });
const END = chunk({ ...delta('', 'stop'), usage: usageOf({ prompt: 11, completion: 5 }) });
const ERROR_EVENT = 'data: {"error":{"message":"overloaded"}}\n\n';
const stream = { stream: true, stream_options: { include_usage: true } };

/** A provider that sends the beginning of a stream, and the rest when told to. */
function inTwo(beginning: string) {
  const { promise: begun, resolve } = Promise.withResolvers<ServerResponse>();
  const script: Script = async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    await flush(response, beginning);
    resolve(response);
  };
  return { script, begun };
}

describe('a stream that another target could still take the place of', () => {
  it('200 and every byte, none of it before the first content', async () => {
    const id = await bench.addTwo();
    const { script, begun } = inTwo(`: hello\n\n${ROLE}`);
    first.script = script;
    const answering = gateway.chat(key.secret, { model: id, ...stream });
    const provider = await begun;
    // The wait for content is on, so the head has come, and the caller has nothing.
    await gateway.time.started(MAX_HELD_MS);
    const early = await Promise.race([answering, Promise.resolve('nothing yet')]);
    assert.equal(early, 'nothing yet');
    provider.end(`${chunk(delta('Hello'))}${END}${DONE}`);
    const response = await answering;
    assert.equal(await response.text(), `: hello\n\n${ROLE}${chunk(delta('Hello'))}${END}${DONE}`);
    assert.deepEqual(endings(await bench.recordOf(response)), ['default served']);
  });

  it('200 and an error event that passes, where it was silent for so long that it was shown', async () => {
    const id = await bench.addTwo();
    const { script, begun } = inTwo(ROLE);
    first.script = script;
    const answering = gateway.chat(key.secret, { model: id, ...stream });
    const provider = await begun;
    await gateway.time.started(MAX_HELD_MS);
    gateway.time.fire(MAX_HELD_MS);
    const response = await answering;
    provider.end(ERROR_EVENT);
    const text = await response.text();
    assert.ok(text.endsWith(ERROR_EVENT), text);
    assert.deepEqual(endings(await bench.recordOf(response)), ['default error_event']);
  });

  it('200 and an error event that passes, where more came before it than is kept back', async () => {
    const id = await bench.addTwo();
    const comment = `: ${'x'.repeat(MAX_HELD_BYTES / 4)}\n\n`;
    first.script = sse(...Array.from({ length: 5 }, () => comment), ERROR_EVENT);
    const response = await gateway.chat(key.secret, { model: id, ...stream });
    assert.equal(await response.text(), comment.repeat(5) + ERROR_EVENT);
  });

  it('200 for an answer without content, as it came', async () => {
    const id = await bench.addTwo();
    first.script = sse(ROLE, END, DONE);
    const response = await gateway.chat(key.secret, { model: id, ...stream });
    assert.equal(await response.text(), ROLE + END + DONE);
    assert.deepEqual(endings(await bench.recordOf(response)), ['default served']);
  });

  it('499 when the caller leaves before the first content, and pays for what the provider did', async () => {
    const id = await bench.addTwo();
    const { script, begun } = inTwo(ROLE);
    first.script = script;
    const stop = new AbortController();
    const answering = gateway.chat(key.secret, { model: id, ...stream }, { signal: stop.signal });
    const provider = await begun;
    await gateway.time.started(MAX_HELD_MS);
    const before = gateway.journal.records.length;
    stop.abort();
    await assert.rejects(answering);
    // The rest is read for its usage.
    await gateway.time.started(60_000);
    provider.end(`${chunk(delta('Hello'))}${END}${DONE}`);
    await gateway.journal.count(before + 1);
    const record = gateway.journal.records.at(-1);
    assert.ok(record);
    assert.deepEqual([record.status, endings(record)], [499, ['default client_disconnect']]);
    assert.equal(record.costMicroPkr, 11n * 70n + 5n * 560n);
  });

  it('200 from the second, with the same body but for the model, however large', async () => {
    const id = await bench.addTwo();
    first.script = failing;
    const messages = [{ role: 'user', content: 'long '.repeat(60_000) }];
    const response = await gateway.chat(key.secret, { model: id, messages });
    assert.equal(response.status, 200);
    await response.text();
    const [one, other] = [first.asked.at(-1), second.asked.at(-1)];
    assert.ok(one && other && one.text.length > 300_000);
    assert.equal(other.text, one.text);
  });
});

describe('a stream of messages', () => {
  it('200 from the second where the first is overloaded, as Anthropic says it', async () => {
    await addRoute(bench.database, {
      id: 'held/messages',
      endpoints: ['messages'],
      minOutputTokens: 2,
      protocol: 'anthropic',
      targets: [
        { provider: 'messages 1', baseUrl: first.baseUrl, priority: 1 },
        { provider: 'messages 2', baseUrl: second.baseUrl, priority: 2 },
        // A third that is called in another format.
        { provider: 'messages 3', baseUrl: second.baseUrl, priority: 3, protocol: 'openai' },
      ],
    });
    const overloaded = messages.event('error', {
      error: { type: 'overloaded_error', message: 'Overloaded' },
    });
    first.script = sse(
      messages.messageStart({ input_tokens: 9, output_tokens: 1 }),
      messages.event('ping'),
      overloaded,
    );
    second.script = (response, asked) =>
      (asked.path === '/v1/messages' ? sse(overloaded) : sse(ROLE, chunk(delta('Hello')), END, DONE))(
        response,
        asked,
      );
    const response = await gateway.post('/v1/messages', key.secret, {
      model: 'held/messages',
      max_tokens: 50,
      stream: true,
      messages: [{ role: 'user', content: 'Hi' }],
    });
    const text = await response.text();
    assert.ok(text.includes('Hello') && text.includes('message_stop') && !text.includes('overloaded'), text);
    const record = await bench.recordOf(response);
    assert.deepEqual(endings(record), ['default error_event', 'default error_event', 'default served']);
    const costs = record.attempts.map(({ costMicroPkr }) => costMicroPkr);
    // The first said what the prompt took, so it is billed.
    assert.ok(costs[0] !== undefined && costs[0] > 0n && costs[1] === 0n, costs.join());
  });
});

describe('a stored response', () => {
  it('200 where it was made, whatever the session', async () => {
    await addRoute(bench.database, {
      id: 'held/responses',
      endpoints: ['responses'],
      protocol: 'openai',
      baseUrl: first.baseUrl,
      flags: { surfaces: { responses: '/responses' } },
      deny: [],
      maxInputTokens: 1_000,
      credentials: ['a', 'b', 'c', 'd'].map((name) => ({ name, apiKeyEnv: name.toUpperCase() })),
    });
    let made = 0;
    first.script = (response, asked) => {
      made += 1;
      const id = `resp_${made}`;
      const answer = responses.response([responses.messageItem('Hi')], { input: 5, output: 1 }, { id });
      const events = [
        responses.event('response.created', { response: { ...answer, status: 'in_progress' } }),
        responses.textDelta('Hi'),
        responses.event('response.completed', { response: answer }),
      ];
      return (asked.body['stream'] === true ? sse(...events) : json(answer))(response, asked);
    };
    const ask = async (body: object) => {
      const given = { model: 'held/responses', input: 'Hi', ...body };
      const response = await gateway.post('/v1/responses', key.secret, given);
      assert.equal(response.status, 200, await response.clone().text());
      await response.text();
      const asked = first.asked.at(-1) ?? assert.fail();
      return { id: `resp_${made}`, credential: credentialOf(asked) };
    };
    for (let n = 0; n < 8; n += 1) {
      const one = await ask({ user: `user ${n}`, stream: n % 2 === 0 });
      for (let session = 0; session < 4; session += 1) {
        const next = await ask({ user: `other ${session}`, previous_response_id: one.id });
        assert.equal(next.credential, one.credential);
      }
    }
    // One that is not known goes where its session goes.
    const usual = await ask({ user: 'user 1' });
    assert.equal(
      (await ask({ user: 'user 1', previous_response_id: 'resp_unknown' })).credential,
      usual.credential,
    );
  });

  it('500 from where it was made: another account does not have it', async () => {
    first.script = (response, asked) =>
      json(responses.response([responses.messageItem('Hi')], undefined, { id: 'resp_kept' }))(
        response,
        asked,
      );
    const body = { model: 'held/responses', input: 'Hi' };
    await (await gateway.post('/v1/responses', key.secret, body)).text();
    const maker = credentialOf(first.asked.at(-1) ?? assert.fail());
    first.script = failing;
    const next = { ...body, previous_response_id: 'resp_kept' };
    const response = await gateway.post('/v1/responses', key.secret, next);
    assert.equal(response.status, 500);
    await response.text();
    const record = await bench.recordOf(response);
    assert.deepEqual(endings(record), [`${maker} error_status`]);
    first.script = served;
  });
});
