import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { type Asked, chunk, completion, delta, flush, startMockProvider } from '@gatehouse/gateway/testing';

const USAGE = { prompt: 8, completion: 10 };
const PIECES = 4;

/** A provider that takes some time for each answer and keeps its bill: how often it was asked by which request. */
export interface BillingProvider extends AsyncDisposable {
  readonly baseUrl: string;
  /** How often each request arrived here, by the number in its prompt. */
  readonly bill: ReadonlyMap<number, number>;
}

/** The prompt of a request. */
export const promptOf = (number: number) => `request ${number}`;

export async function startBillingProvider(host: string, answerMs = 100): Promise<BillingProvider> {
  const bill = new Map<number, number>();
  const answer = async (response: ServerResponse, { body }: Asked) => {
    const [{ content }] = body['messages'] as [{ content: string }];
    // A prompt may ask for an answer that takes longer: `request 7 for 4000`.
    const [, number, takes = answerMs] = content.split(/ (?:for )?/).map(Number) as [number, number, number?];
    bill.set(number, (bill.get(number) ?? 0) + 1);
    if (body['stream'] === true) return stream(response, takes, takes === answerMs);
    await delay(answerMs * Math.random());
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(completion('x', USAGE)));
  };
  const provider = await startMockProvider(async (response, asked) => {
    // Hours of requests would fill the memory.
    provider.asked.length = 0;
    await answer(response, asked);
  }, host);
  return { baseUrl: provider.baseUrl, bill, [Symbol.asyncDispose]: () => provider[Symbol.asyncDispose]() };
}

async function stream(response: ServerResponse, answerMs: number, isRandom: boolean): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (let piece = 0; piece < PIECES; piece += 1) {
    await flush(response, chunk(delta('x', piece === PIECES - 1 ? 'stop' : null)));
    await delay((answerMs / PIECES) * (isRandom ? Math.random() : 1));
  }
  const { prompt, completion: generated } = USAGE;
  const usage = { prompt_tokens: prompt, completion_tokens: generated, total_tokens: prompt + generated };
  await flush(response, chunk({ choices: [], usage }));
  response.end('data: [DONE]\n\n');
}
