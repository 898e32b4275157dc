import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, afterEach, before, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { seedsUpTo } from '@gatehouse/concurrency/testing';
import type { FinishedRequest } from '../journal/finished-request.ts';
import { useBench } from '../testing/bench.ts';
import { flush, json, type Script, sse } from '../testing/mock-provider.ts';
import { MOCK_SURFACES, TRANSLATED } from '../testing/mock-surfaces.ts';
import { assertNoDelays } from '../testing/no-delays.ts';
import { RandomJson } from '../testing/random-json.ts';
import { addRoute, issueKey, ROUTE_TIMEOUT_MS } from '../testing/test-gateway.ts';

// A provider that lies, in every format, to callers of every format: each answer ends in order, costs what it can, and
// is on record. Nothing that a provider sends is an internal error.

const MAX_INPUT = 1_000;
const MAX_OUTPUT = 100;
const MAX_COST = BigInt(MAX_INPUT) * 70n + BigInt(MAX_OUTPUT) * 560n;
const RANDOM_STREAMS = 25;

const bench = await useBench();
const { secret } = await issueKey(bench.database, { rateLimitRpm: 100_000 });

describe('a provider that lies', () => {
  before(async () => {
    for (const surface of TRANSLATED) {
      const { protocol, flags } = MOCK_SURFACES[surface];
      await addRoute(bench.database, {
        ...{ id: `mock/${surface}`, protocol, flags, baseUrl: bench.provider.baseUrl },
        ...{ endpoints: TRANSLATED, maxInputTokens: MAX_INPUT, maxOutputTokens: MAX_OUTPUT },
      });
    }
  });
  afterEach(() => assertNoDelays(bench.gateway.time));
  after(() => {
    const failures = /^request\.(internal_error|not_metered|not_recorded|answer_failed)$|^reader\./;
    const failed = bench.gateway.logged.filter(({ event }) => failures.test(String(event ?? '')));
    assert.deepEqual(failed, []);
  });

  for (const endpoint of TRANSLATED) {
    for (const surface of TRANSLATED) {
      const callers = MOCK_SURFACES[endpoint];
      const providers = MOCK_SURFACES[surface];
      const isNative = endpoint === surface;

      const ask = (stream: boolean) =>
        bench.gateway.post(callers.path, secret, {
          ...{ model: `mock/${surface}`, ...callers.body, stream },
        });
      /** The record of an answer, which must be possible. */
      const recordOf = async (response: Response): Promise<FinishedRequest> => {
        const record = await bench.recordOf(response);
        assert.ok(record.costMicroPkr >= 0n && record.costMicroPkr <= MAX_COST, String(record.costMicroPkr));
        assert.ok((record.promptTokens ?? 0) <= MAX_INPUT && record.tokensGenerated <= MAX_OUTPUT);
        return record;
      };
      /** The text of a stream, which must end with the caller's end mark or an error. */
      const streamed = async (script: Script) => {
        bench.provider.script = script;
        const response = await ask(true);
        const text = await response.text();
        assert.equal(response.status, 200, text);
        const record = await recordOf(response);
        return { text, record };
      };

      describe(`${surface} for a caller of ${endpoint}`, () => {
        for (const [title, usage, prompt, generated, isEstimated] of [
          ['negative', providers.usage(-5, -7), 8, 1, true],
          ['huge', providers.usage(10 ** 15, 10 ** 15), MAX_INPUT, MAX_OUTPUT, true],
          ['beyond all integers', providers.usage(1e300, 1e300), 8, 1, true],
          ['broken', providers.usage(1.5, 2.5), 8, 1, true],
          ['a text', 'none', 8, 1, true],
          ['a list', [1, 2], 8, 1, true],
          ['null', null, 8, 1, true],
          ['zero', providers.usage(0, 0), 8, 1, true],
          ['no prompt', providers.usage(0, 7), 8, 7, true],
          ['no output', providers.usage(20, 0), 20, 1, true],
          ['true', providers.usage(20, 7), 20, 7, false],
        ] as const) {
          it(`200 settled by what can be true where its usage is ${title}`, async () => {
            bench.provider.script = json(providers.whole('Hello', usage));
            const response = await ask(false);
            assert.equal(response.status, 200, await response.clone().text());
            assert.equal(callers.textOf(await response.json()), 'Hello');
            const record = await recordOf(response);
            assert.deepEqual(
              [record.promptTokens, record.tokensGenerated, record.tokensEstimated],
              [prompt, generated, isEstimated],
            );
          });

          it(`200 with a stream in order where its usage is ${title}`, async () => {
            const { text } = await streamed(sse(...providers.stream(['Hello'], usage)));
            assert.match(text, callers.end);
            assert.equal(callers.textOfStream(text), 'Hello');
          });
        }

        it('200 settled by the last usage of a stream that repeats it', async () => {
          const events = providers.stream(['Hello'], providers.usage(20, 7));
          const again = [...events.slice(0, -1), ...events.slice(-2, -1), ...events.slice(-1)];
          const { text, record } = await streamed(sse(...again));
          assert.match(text, callers.end);
          assert.deepEqual([record.promptTokens, record.tokensGenerated], [20, 7]);
        });

        it(`200 that ends in order for ${RANDOM_STREAMS} streams of shuffled, repeated and broken events`, async () => {
          for (const seed of seedsUpTo(RANDOM_STREAMS)) {
            const random = new RandomJson(seed);
            const { text, record } = await streamed(sse(randomStream(random, providers.stream)));
            assert.ok(text === '' || isEnded(text, callers, isNative), `seed ${seed}: ${text.slice(-500)}`);
            assert.ok(['success', 'upstream_stream_aborted'].includes(record.terminationReason));
          }
        });

        it(`200 or 502 for ${RANDOM_STREAMS} answers with broken members`, async () => {
          for (const seed of seedsUpTo(RANDOM_STREAMS)) {
            const random = new RandomJson(seed);
            const whole = JSON.stringify(providers.whole('Hello', providers.usage(20, 7)));
            bench.provider.script = json(broken(random, whole));
            const response = await ask(false);
            const text = await response.text();
            assert.ok([200, 502].includes(response.status), `seed ${seed}: ${response.status} ${text}`);
            await recordOf(response);
          }
        });

        it('200 and an error event for an event of 64 MB, of which little is kept', async () => {
          const next = bench.provider.next();
          const { text, record } = await streamed(async (response) => {
            response.writeHead(200, { 'content-type': 'text/event-stream' });
            const events = providers.stream(['Hello'], providers.usage(20, 7));
            await flush(response, events.slice(0, -2).join(''));
            await writeUpTo(response, 64 * 1024 ** 2, 'data: ', 'x'.repeat(65_536));
          });
          await (await next).aborted;
          assert.match(text, callers.error);
          assert.equal(record.upstreamError, 'sent an event that is too large');
        });

        it('200 and an error event at the time limit for a stream that never ends', async () => {
          bench.provider.script = async (response) => {
            response.writeHead(200, { 'content-type': 'text/event-stream' });
            await flush(response, providers.stream(['Hello']).slice(0, -2).join(''));
            await writeUpTo(response, Number.POSITIVE_INFINITY, '', ': ping\n\n'.repeat(100));
          };
          const response = await ask(true);
          const reader = response.body?.getReader() ?? assert.fail();
          await reader.read();
          bench.gateway.time.fire(ROUTE_TIMEOUT_MS);
          let last = '';
          for (let part = await reader.read(); !part.done; part = await reader.read()) {
            last = (last + Buffer.from(part.value).toString()).slice(-2_000);
          }
          assert.match(last, callers.error);
          assert.equal((await recordOf(response)).terminationReason, 'proxy_guillotine');
        });

        for (const [title, status, headers, body] of [
          ['gzip that nobody asked for', 200, { 'content-encoding': 'gzip' }, gzipSync('{}')],
          ['a redirect', 307, { location: 'http://127.0.0.1:1/' }, Buffer.from('')],
          ['a page', 200, { 'content-type': 'text/html' }, Buffer.from('<html>Hello</html>')],
        ] as const) {
          for (const stream of [false, true]) {
            it(`502 for ${title} (stream: ${stream})`, async () => {
              bench.provider.script = (response) => {
                response.writeHead(status, { 'content-type': 'application/json', ...headers });
                response.end(body);
              };
              const response = await ask(stream);
              assert.equal(response.status, 502, await response.clone().text());
              assert.ok(await response.json());
              assert.equal((await recordOf(response)).costMicroPkr, 0n);
            });
          }
        }
      });
    }
  }
});

type Surfaces = (typeof MOCK_SURFACES)[keyof typeof MOCK_SURFACES];

/** A native stream may end with whatever the provider sent that is an end. */
function isEnded(text: string, { end, error }: Surfaces, isNative: boolean): boolean {
  return end.test(text) || error.test(text) || (isNative && text.endsWith('\n'));
}

/** The events of a stream in a wrong order, some twice, some missing, some with values of other kinds. */
function randomStream(random: RandomJson, stream: Surfaces['stream']): string {
  const events = stream(['He', 'llo']);
  const chosen = events.flatMap((event) => random.one([[event], [event], [event], [], [event, event]]));
  const ordered = random.one([chosen, random.shuffled(chosen)]);
  return ordered.map((event) => random.one([event, broken(random, event)])).join('');
}

/** The same text with one of its values replaced by another. */
function broken(random: RandomJson, text: string): string {
  const values = [...text.matchAll(/"(?:[^"\\]|\\.)*"(?=[,}\]])|-?\d+(?=[,}\]])|null|\[\]/g)];
  const value = random.one(values);
  if (!value) return text;
  return text.slice(0, value.index) + random.value() + text.slice(value.index + value[0].length);
}

/** Writes until the reader stops, or so much was written. */
async function writeUpTo(
  response: ServerResponse,
  bytes: number,
  first: string,
  part: string,
): Promise<void> {
  response.write(first);
  for (let sent = 0; sent < bytes && !response.destroyed; sent += part.length) {
    await new Promise<void>((resolve) => response.write(part, () => setImmediate(resolve)));
  }
}
