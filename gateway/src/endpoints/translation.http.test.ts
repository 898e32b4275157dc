import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { READ_ON_MS } from '../attempt/read-on.ts';
import { SILENCE_MS } from '../attempt/stream-sender.ts';
import { requestIdOf, useBench } from '../testing/bench.ts';
import { flush, json, sse } from '../testing/mock-provider.ts';
import { MOCK_SURFACES, TRANSLATED } from '../testing/mock-surfaces.ts';
import { assertNoDelays } from '../testing/no-delays.ts';
import { addRoute, PLATFORM_KEY, ROUTE_TIMEOUT_MS } from '../testing/test-gateway.ts';

const bench = await useBench({ bodyLimitBytes: 4 * 1024 ** 2 });

const DIRECTIONS = TRANSLATED.flatMap((endpoint) =>
  TRANSLATED.filter((surface) => surface !== endpoint).map((surface) => [endpoint, surface] as const),
);

describe('a provider that speaks another format', () => {
  before(async () => {
    for (const surface of TRANSLATED) {
      const { protocol, flags } = MOCK_SURFACES[surface];
      await addRoute(bench.database, {
        ...{ id: `mock/${surface}`, protocol, flags, baseUrl: bench.provider.baseUrl },
        endpoints: TRANSLATED,
      });
    }
  });

  for (const [endpoint, surface] of DIRECTIONS) {
    const callers = MOCK_SURFACES[endpoint];
    const providers = MOCK_SURFACES[surface];
    const ask = (members: object = {}, init: RequestInit = {}) =>
      bench.gateway.post(
        callers.path,
        bench.key.secret,
        { model: `mock/${surface}`, ...callers.body, ...members },
        init,
      );
    const usage = providers.usage(20, 7);

    describe(`${endpoint} to ${surface}`, () => {
      it('200 with an answer in the format of the caller, metered by that of the provider', async () => {
        bench.provider.script = json(providers.whole('Hé☕ there', usage), 200, {
          'content-type': 'application/json; x=y',
        });
        const response = await ask();
        const text = await response.text();
        assert.equal(response.status, 200, text);
        assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8');
        const id = requestIdOf(response);
        assert.equal(response.headers.get('request-id'), endpoint === 'messages' ? id : null);
        assert.equal(callers.textOf(JSON.parse(text)), 'Hé☕ there');
        const asked = bench.provider.asked.at(-1);
        assert.equal(asked?.path, providers.providerPath);
        assert.equal(asked?.body['model'], 'upstream-model');
        const cap = asked?.body['max_tokens'] ?? asked?.body['max_completion_tokens'];
        assert.equal(cap ?? asked?.body['max_output_tokens'], 50);
        await bench.assertRecord(response, {
          promptTokens: 20,
          tokensGenerated: 7,
          tokensEstimated: false,
          costMicroPkr: 20n * 70n + 7n * 560n,
          isStream: false,
        });
      });

      it('200 with a stream in the format of the caller, its end kept back until it is on record', async () => {
        bench.provider.script = sse(...providers.stream(['Hé', '☕ the', 're'], usage));
        let isRecorded = false;
        const { promise: isWaiting, resolve: waits } = Promise.withResolvers<void>();
        const { promise: written, resolve: write } = Promise.withResolvers<void>();
        bench.gateway.journal.before = async () => {
          waits();
          await written;
          isRecorded = true;
        };
        const response = await ask({ stream: true });
        assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8');
        const reading = readAll(response, (soFar) => {
          if (callers.end.test(soFar)) assert.ok(isRecorded, 'the end came before the record');
        });
        await isWaiting;
        write();
        const stream = await reading;
        bench.gateway.journal.before = async () => {};
        assert.equal(callers.textOfStream(stream), 'Hé☕ there');
        assert.match(stream, callers.end);
        const asked = bench.provider.asked.at(-1);
        assert.equal(asked?.headers.accept, 'text/event-stream');
        assert.equal(asked?.body['stream'], true);
        const options = surface === 'chat' ? { include_usage: true } : undefined;
        assert.deepEqual(asked?.body['stream_options'], options);
        await bench.assertRecord(response, {
          promptTokens: 20,
          tokensGenerated: 7,
          tokensEstimated: false,
          isStream: true,
          terminationReason: 'success',
        });
      });

      it('200 with a ping whenever a stream was silent for 15 seconds', async () => {
        const { promise: goOn, resolve: go } = Promise.withResolvers<void>();
        bench.provider.script = async (response) => {
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          const events = providers.stream(['Hello'], usage);
          for (const event of events.slice(0, -3)) await flush(response, event);
          await goOn;
          response.end(events.slice(-3).join(''));
        };
        const response = await ask({ stream: true });
        let pings = 0;
        const reading = readAll(response, (soFar) => {
          const seen = callers.pingsIn(soFar);
          if (seen > pings) {
            pings = seen;
            if (pings === 2) go();
            else beat();
          } else if (pings === 0 && callers.textOfStream(soFar) !== '') beat();
        });
        let beats = 0;
        const beat = () => {
          beats += 1;
          if (beats > 2) return;
          bench.gateway.time.advance(SILENCE_MS);
          bench.gateway.time.fire(SILENCE_MS);
        };
        const stream = await reading;
        assert.equal(callers.textOfStream(stream), 'Hello');
        assert.match(stream, callers.end);
        assert.equal(pings, 2);
      });

      it('200 with an error event in the format of the caller when the provider aborts', async () => {
        bench.provider.script = async (response) => {
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          for (const event of providers.stream(['Hello', ' there'], usage).slice(0, -2)) {
            await flush(response, event);
          }
          response.destroy();
        };
        const response = await ask({ stream: true });
        const stream = await response.text();
        assert.match(stream, callers.error);
        assert.doesNotMatch(stream, callers.end);
        await bench.assertRecord(response, { terminationReason: 'upstream_stream_aborted' });
      });

      it('200 with an error event in the format of the caller at the time limit of the route', async () => {
        bench.provider.script = async (response) => {
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          await flush(response, providers.stream(['Hello'], usage).slice(0, 1).join(''));
        };
        const response = await ask({ stream: true });
        bench.gateway.time.fire(ROUTE_TIMEOUT_MS);
        assert.match(await response.text(), callers.error);
        await bench.assertRecord(response, { terminationReason: 'proxy_guillotine' });
      });

      it('200 billed by the usage that comes after the caller has left', async () => {
        const { promise: isGone, resolve: gone } = Promise.withResolvers<void>();
        bench.provider.script = async (response) => {
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          const events = providers.stream(['Hello', ' there'], usage);
          for (const event of events.slice(0, -4)) await flush(response, event);
          await isGone;
          response.end(events.slice(-4).join(''));
        };
        const leaving = new AbortController();
        const response = await ask({ stream: true }, { signal: leaving.signal });
        await response.body?.getReader().read();
        leaving.abort();
        await bench.gateway.time.started(READ_ON_MS);
        gone();
        await bench.assertRecord(response, {
          terminationReason: 'client_disconnect',
          promptTokens: 20,
          tokensGenerated: 7,
          tokensEstimated: false,
        });
        await assertNoDelays(bench.gateway.time);
      });

      it("400 of the provider in the caller's envelope, its message kept, without the credential", async () => {
        const said = `no such thing ${PLATFORM_KEY}`;
        bench.provider.script = json({ error: { message: said, type: 'odd' } }, 400);
        const response = await ask();
        assert.equal(response.status, 400);
        assert.equal(response.headers.get('x-gatehouse-error-source'), 'provider');
        const { error } = (await response.json()) as { error: { message: string } };
        assert.equal(error.message, 'no such thing [redacted]');
      });

      for (const [title, body] of [
        ['no JSON', 'hello'],
        ['another kind of answer', '{"object":"list","data":[]}'],
        ['an empty object', '{}'],
        ['a list', '[]'],
      ] as const) {
        it(`502 for ${title}, or an answer without content`, async () => {
          bench.provider.script = json(body);
          const response = await ask();
          assert.ok([200, 502].includes(response.status));
          assert.ok(JSON.parse(await response.text()));
        });
      }

      it('400 that names a member which the other format has nothing for, before anything is held', async () => {
        const before = bench.provider.asked.length;
        const forced = {
          chat: { n: 3 },
          messages: { mcp_servers: [{ type: 'url', url: 'https://x.example', name: 'x' }] },
          responses: { previous_response_id: 'resp_1' },
        }[endpoint];
        const response = await ask(forced);
        assert.equal(response.status, 400);
        assert.match(await response.text(), new RegExp(Object.keys(forced).join('|')));
        assert.equal(bench.provider.asked.length, before);
        const record = await bench.gateway.journal.recordOf(requestIdOf(response));
        assert.equal(record.costMicroPkr, 0n);
        assert.equal(record.isHeld, false);
      });

      it('200 for a large body and a large answer, in reader threads', async () => {
        const long = 'Hello there. '.repeat(20_000);
        bench.provider.script = json(providers.whole(long, usage));
        const content =
          endpoint === 'responses' ? { input: long } : { messages: [{ role: 'user', content: long }] };
        const response = await ask(content);
        assert.equal(callers.textOf(await response.json()), long);
        assert.ok(bench.provider.asked.at(-1)?.text.includes(long));
      });
    });
  }

  it('502 for an error inside of a 200, with what the provider said on record', async () => {
    bench.provider.script = json({ error: { message: 'no capacity', code: 502 } });
    const { body, path } = MOCK_SURFACES.messages;
    const response = await bench.gateway.post(path, bench.key.secret, { model: 'mock/chat', ...body });
    assert.equal(response.status, 502);
    await bench.assertRecord(response, { upstreamError: 'no capacity', costMicroPkr: 0n });
  });

  it('502 for an error inside of a choice, as routers answer', async () => {
    const error = { code: 502, message: 'the model is down' };
    const choice = { index: 0, message: { role: 'assistant', content: '' }, finish_reason: 'error', error };
    bench.provider.script = json({ id: 'gen-1', object: 'chat.completion', choices: [choice] });
    const { body, path } = MOCK_SURFACES.messages;
    const response = await bench.gateway.post(path, bench.key.secret, { model: 'mock/chat', ...body });
    assert.equal(response.status, 502);
    await bench.assertRecord(response, { upstreamError: error.message, costMicroPkr: 0n });
    const native = await bench.gateway.chat(bench.key.secret, { model: 'mock/chat' });
    assert.equal(native.status, 200);
    await native.text();
    await bench.assertRecord(native, { upstreamError: error.message, costMicroPkr: 0n });
  });

  it('200 with what was dropped in a header', async () => {
    bench.provider.script = json(MOCK_SURFACES.chat.whole('x', MOCK_SURFACES.chat.usage(1, 1)));
    const { body, path } = MOCK_SURFACES.messages;
    const response = await bench.gateway.post(path, bench.key.secret, {
      ...{ model: 'mock/chat', ...body, top_k: 5 },
    });
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('x-gatehouse-dropped'), 'top_k');
  });

  for (const surface of TRANSLATED) {
    for (const stream of [false, true]) {
      it(`200 with a chat completion for the body of a response on the path of chat, by ${surface} (stream: ${stream})`, async () => {
        const providers = MOCK_SURFACES[surface];
        const { chat } = MOCK_SURFACES;
        const usage = providers.usage(20, 7);
        bench.provider.script = stream
          ? sse(...providers.stream(['Hello', ' you'], usage))
          : json(providers.whole('Hello you', usage));
        const input = [{ role: 'user', content: [{ type: 'input_text', text: 'Hi' }] }];
        const response = await bench.gateway.post(chat.path, bench.key.secret, {
          ...{ model: `mock/${surface}`, input, stream },
        });
        const text = await response.text();
        assert.equal(response.status, 200, text);
        assert.equal(bench.provider.asked.at(-1)?.path, providers.providerPath);
        assert.equal(stream ? chat.textOfStream(text) : chat.textOf(JSON.parse(text)), 'Hello you');
        await bench.assertRecord(response, { promptTokens: 20, tokensGenerated: 7, status: 200 });
      });
    }
  }
});

/** The whole text, and what has come so far after each packet. */
async function readAll(response: Response, onMore: (soFar: string) => void): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes, { stream: true });
    onMore(text);
  }
  return text;
}
