import { setTimeout as delay } from 'node:timers/promises';
import {
  chunk,
  completion,
  delta,
  flush,
  type MockProvider,
  startMockProvider,
} from '@gatehouse/gateway/testing';

// The provider of these drills, and its own account of what it answered. Each request has a number in its only message, and its usage
// follows from the number.

const PRICE_OF_INPUT = 70n;
const PRICE_OF_OUTPUT = 560n;

export const CATALOGUE = (
  baseUrl: string,
) => `providers: { mock: { protocol: openai, base_url: "${baseUrl}", api_key_env: MOCK_KEY } }
routes:
  - { id: mock/model, provider: mock, upstream_model: m, timeout_ms: 30000, max_output_tokens: 100,
      price_pkr_per_million: { input: ${PRICE_OF_INPUT}, output: ${PRICE_OF_OUTPUT} } }
`;

export interface Billed {
  /** How often it was asked for this. */
  asked: number;
  /** True once the whole answer was sent. */
  isDone: boolean;
}

export interface BillingProvider extends AsyncDisposable {
  readonly baseUrl: string;
  /** By the number of the request. */
  readonly bill: ReadonlyMap<number, Billed>;
}

// The prompt is more than is counted here, so that the provider's usage is what is billed.
const usageOf = (request: number) => ({ prompt: 40 + (request % 7), completion: 5 + (request % 5) });

/** The cost of a request whose usage the provider reported, in micro-PKR. */
export function costOf(request: number): bigint {
  const { prompt, completion: generated } = usageOf(request);
  return BigInt(prompt) * PRICE_OF_INPUT + BigInt(generated) * PRICE_OF_OUTPUT;
}

/** The provider takes up to `slowestMs` for an answer that is not streamed, and for each part of a stream. */
export async function startBillingProvider(
  random: () => number,
  slowestMs: number,
): Promise<BillingProvider> {
  const bill = new Map<number, Billed>();
  const mock: MockProvider = await startMockProvider();
  mock.script = async (response, { body }) => {
    // Nothing else is kept of a request, of which there are many.
    mock.asked.length = 0;
    const [{ content }] = body['messages'] as [{ content: string }];
    const request = Number(content.slice('request '.length));
    const billed = bill.get(request) ?? { asked: 0, isDone: false };
    bill.set(request, billed);
    billed.asked += 1;
    const usage = usageOf(request);
    if (slowestMs > 0) await delay(random() * slowestMs);
    if (body['stream'] !== true) {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(completion('Hello', usage)));
      billed.isDone = !response.destroyed;
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const text of ['Hel', 'lo ', 'there']) {
      await flush(response, chunk(delta(text)));
      if (slowestMs > 0) await delay(random() * slowestMs);
    }
    const tokens = {
      prompt_tokens: usage.prompt,
      completion_tokens: usage.completion,
      total_tokens: usage.prompt + usage.completion,
    };
    await flush(response, chunk(delta('', 'stop')));
    response.end(`${chunk({ choices: [], usage: tokens })}data: [DONE]\n\n`);
    billed.isDone = !response.destroyed;
  };
  return { baseUrl: mock.baseUrl, bill, [Symbol.asyncDispose]: () => mock[Symbol.asyncDispose]() };
}
