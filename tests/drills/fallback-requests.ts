import assert from 'node:assert/strict';
import { systemClock } from '@gatehouse/concurrency';
import {
  addRoute,
  chunk,
  completion,
  delta,
  flush,
  issueKey,
  json,
  moneyOf,
  type Script,
  type Settlement,
  settle,
  sse,
  startMockProvider,
  startTestGateway,
} from '@gatehouse/gateway/testing';
import { createTestDatabase } from '@gatehouse/store/testing';
import { seeded } from './seeded.ts';

// Requests to a route with three targets whose providers fail at random, over real connections. What a provider does with a
// request is a function of the seed, the request and the provider, so it is known which requests could have been served,
// and what each cost.

/** The ways of a provider to answer. Those in capitals have an effect that nothing can follow, or a price. */
const FAULTS = [
  ...['reset', 'status 500', 'status 529', 'status 429', 'status 401', 'no answer', 'cut answer'],
  ...['error event', 'billed error event', 'cut before content', 'cut after content'],
] as const;
type Deed = 'served' | (typeof FAULTS)[number];

// In micro-PKR for a token.
const PRICES = [
  { input: 7n, output: 50n },
  { input: 11n, output: 70n },
  { input: 13n, output: 90n },
];
const TARGETS = PRICES.length;
const AT_ONCE = 32;
const MODEL = 'drill/fallbacks';
const ANSWER = 'Hello there.';

export interface Tally {
  requests: number;
  served: number;
  /** Served by another target than the first that was tried. */
  rescued: number;
  /** Requests whose answer had begun when it broke. */
  cut: number;
  /** All three failed. */
  failed: number;
  attempts: number;
  spentMicroPkr: bigint;
}

/** Sends the requests. Throws at the first that was not served although it could have been, or not paid exactly once. */
export async function runFallbacks(requests: number, seed: number, faultShare = 0.35): Promise<Tally> {
  await using stack = new AsyncDisposableStack();
  const { database, owner } = stack.use(await createTestDatabase());
  /** How often each request was served, by any provider. */
  const served = new Map<number, number>();
  const deedOf = (request: number, provider: number): Deed => {
    const random = seeded(seed + request * TARGETS + provider);
    random();
    if (random() >= faultShare) return 'served';
    return FAULTS[Math.floor(random() * FAULTS.length)] ?? 'served';
  };
  const providers = await Promise.all(
    PRICES.map(async (_, provider) => {
      const script: Script = (response, asked) => {
        const request = requestOf(asked.body);
        const deed = deedOf(request, provider);
        if (deed === 'served') served.set(request, (served.get(request) ?? 0) + 1);
        return act(deed, request, asked.body['stream'] === true)(response, asked);
      };
      return stack.use(await startMockProvider(script));
    }),
  );
  const gateway = stack.use(
    await startTestGateway(database, { clock: systemClock, timers: systemClock, random: seeded(seed) }),
  );
  await addRoute(database, {
    id: MODEL,
    maxOutputTokens: 100,
    // The hold pays for a failed attempt, and the rest of it for another.
    minOutputTokens: 1,
    timeoutMs: 60_000,
    targets: PRICES.map(({ input, output }, index) => ({
      provider: `provider ${index}`,
      baseUrl: providers[index]?.baseUrl ?? null,
      inputMicroPkrPerMillion: input * 1_000_000n,
      outputMicroPkrPerMillion: output * 1_000_000n,
    })),
  });
  const key = await issueKey(database, { rateLimitRpm: 1_000_000 });
  const tally: Tally = {
    ...{ requests: 0, served: 0, rescued: 0, cut: 0, failed: 0, attempts: 0 },
    spentMicroPkr: 0n,
  };

  const ask = async (request: number): Promise<void> => {
    const stream = request % 2 === 0;
    const response = await gateway.chat(key.secret, {
      ...{ model: MODEL, stream, max_tokens: 60 },
      messages: [{ role: 'user', content: `request ${request}` }],
      ...(stream && { stream_options: { include_usage: true } }),
    });
    const text = await response.text().catch(() => '');
    const record = await gateway.journal.recordOf(response.headers.get('x-request-id') ?? '');
    const deeds = record.attempts.map(({ provider }) => deedOf(request, Number(provider.slice(-1))));
    const about = `request ${request} of seed ${seed}: ${deeds.join(', ')}: ${response.status} ${text}`;
    const isWhole = response.status === 200 && text.includes(ANSWER) && !text.includes('error');
    assert.equal(isWhole, deeds.at(-1) === 'served', about);
    assert.equal(served.get(request) ?? 0, isWhole ? 1 : 0, about);
    assert.equal(new Set(record.attempts.map(({ provider }) => provider)).size, deeds.length, about);
    const cost = record.attempts.reduce(
      (sum, { provider }, index) =>
        sum + costOf(deeds[index] ?? 'served', request, Number(provider.slice(-1))),
      0n,
    );
    assert.equal(record.costMicroPkr, cost, about);
    tally.requests += 1;
    tally.attempts += deeds.length;
    tally.spentMicroPkr += cost;
    if (isWhole) tally.served += 1;
    if (isWhole && deeds.length > 1) tally.rescued += 1;
    if (isWhole) return;
    if (deeds.at(-1) === 'cut after content') {
      tally.cut += 1;
      return;
    }
    tally.failed += 1;
    assert.equal(deeds.length, TARGETS, `not every target was tried: ${about}`);
  };

  let next = 0;
  const work = async () => {
    while (next < requests) {
      next += 1;
      await ask(next);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));

  const settlements = gateway.journal.records.map((record): Settlement => {
    const { requestId, organizationId, keyId, costMicroPkr } = record;
    return { requestId, organizationId, keyId, costMicroPkr } as Settlement;
  });
  for (let from = 0; from < settlements.length; from += 1_000) {
    const some = settlements.slice(from, from + 1_000);
    await settle(owner, some);
    // A repetition after a crash does not count.
    await settle(owner, some);
  }
  const money = await moneyOf(database, key.id);
  assert.deepEqual(
    [money.keySpent, money.keyHeld, money.balanceHeld, money.holds],
    [tally.spentMicroPkr, 0n, 0n, 0n],
  );
  return tally;
}

function requestOf(body: Record<string, unknown>): number {
  const [{ content }] = body['messages'] as [{ content: string }];
  return Number(content.slice('request '.length));
}

/** The usage that a provider reports. Its prompt is more than is counted here, so that the report is billed. */
function usageOf(request: number) {
  return { prompt: 40 + (request % 7), completion: 5 + (request % 5) };
}

function costOf(deed: Deed, request: number, provider: number): bigint {
  const { input, output } = PRICES[provider] ?? assert.fail();
  const { prompt, completion: generated } = usageOf(request);
  const isStream = request % 2 === 0;
  const isBilled =
    deed === 'served' || (isStream && (deed === 'billed error event' || deed === 'cut after content'));
  return isBilled ? BigInt(prompt) * input + BigInt(generated) * output : 0n;
}

/** A fault of streams alone is an error status where the answer is none. */
function act(deed: Deed, request: number, isStream: boolean): Script {
  const usage = usageOf(request);
  const usageChunk = chunk({
    choices: [],
    usage: {
      prompt_tokens: usage.prompt,
      completion_tokens: usage.completion,
      total_tokens: usage.prompt + usage.completion,
    },
  });
  const error = { error: { message: 'an error of the drill' } };
  const errorEvent = `data: ${JSON.stringify(error)}\n\n`;
  if (deed.startsWith('status ')) return json(error, Number(deed.slice('status '.length)));
  switch (deed) {
    case 'served':
      if (!isStream) return json(completion(ANSWER, usage));
      return sse(chunk(delta(ANSWER)), chunk(delta('', 'stop')), usageChunk, 'data: [DONE]\n\n');
    case 'reset':
      return (response) => void response.destroy();
    case 'no answer':
      return json('<html>');
    case 'cut answer':
      return async (response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        await flush(response, '{"choices":[');
        response.destroy();
      };
    default:
      return isStream ? streamFault(deed, usageChunk, errorEvent) : json(error, 500);
  }
}

function streamFault(deed: Deed, usageChunk: string, errorEvent: string): Script {
  switch (deed) {
    case 'error event':
      return sse(errorEvent);
    case 'billed error event':
      return sse(usageChunk, errorEvent);
    case 'cut before content':
      return cut(': hello\n\n');
    default:
      return cut(chunk(delta('Hel')), usageChunk);
  }
}

function cut(...pieces: readonly string[]): Script {
  return async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const piece of pieces) await flush(response, piece);
    response.destroy();
  };
}
