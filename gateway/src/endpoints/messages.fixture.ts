import { afterEach, before } from 'node:test';
import { type Bench, useBench } from '../testing/bench.ts';
import { textStream } from '../testing/mock-messages.ts';
import { assertNoDelays } from '../testing/no-delays.ts';
import { addRoute } from '../testing/test-gateway.ts';

export const MODEL = 'mock/claude';
export const INPUT = 70n;
export const OUTPUT = 560n;
export const usage = { input_tokens: 9, output_tokens: 4 };
export const events = textStream(['Hé', '☕'], {
  start: { ...usage, output_tokens: 1 },
  end: { output_tokens: 4 },
});

/** Sends a message request; members of an object replace the defaults, a text is the whole body. */
export type AskMessages = (
  body?: object | string,
  init?: RequestInit & { readonly secret?: string },
) => Promise<Response>;

/** A bench with a route of Anthropic's protocol, and one with a long context, for all tests of the calling file. */
export async function useMessages(): Promise<{ readonly bench: Bench; readonly ask: AskMessages }> {
  const bench = await useBench();
  before(async () => {
    const { baseUrl } = bench.provider;
    const anthropic = { protocol: 'anthropic', endpoints: ['messages'], baseUrl };
    await addRoute(bench.database, { ...anthropic, id: MODEL, aliases: ['claude-opus-4-8'] });
    await addRoute(bench.database, {
      ...anthropic,
      id: 'mock/long',
      aliases: ['claude-long'],
      maxOutputTokens: 128_000,
      maxInputTokens: 200_000,
    });
  });
  afterEach(async () => {
    bench.provider.asked.length = 0;
    await assertNoDelays(bench.gateway.time);
  });

  const ask: AskMessages = (body = {}, { secret = bench.key.secret, ...init } = {}) =>
    bench.gateway.post(
      '/v1/messages?beta=true',
      secret,
      typeof body === 'string'
        ? body
        : { model: MODEL, max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }], ...body },
      init,
    );
  return { bench, ask };
}
