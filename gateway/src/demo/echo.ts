import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '@gatehouse/concurrency';
import type { JsonObject } from '../protocols/json.ts';
import type { ReaderPool } from '../readers/reader-pool.ts';
import { countTokens } from '../tokens/count-tokens.ts';
import type { Upstream, UpstreamCall, UpstreamListener } from '../upstreams/upstream.ts';
import type { EchoRequest } from './read-echo.ts';

// A provider without a network: it answers chat completions with the caller's last message, so that a new user
// can send a first request before having an account anywhere. It stands behind the same interface as an HTTP
// upstream and speaks OpenAI's form, bytes and all, so nothing after it knows the difference.

const NOTHING_SAID = 'Say something, and this model says it back.';

export function createEcho(clock: Clock, readers: ReaderPool): Upstream {
  return {
    send({ body, onBodySent }, listener) {
      const call = new EchoCall();
      const { done } = readers.read('demo/echo', 'echo', undefined, body);
      done
        .then(({ result }) => {
          onBodySent();
          return answer(result, clock, call, listener);
        })
        .catch((error: Error) => {
          if (!call.isAborted) listener.onFailure(error);
        });
      return call;
    },
  };
}

class EchoCall implements UpstreamCall {
  isAborted = false;
  #resumption: PromiseWithResolvers<void> | undefined;

  pause(): void {
    this.#resumption ??= Promise.withResolvers();
  }

  resume(): void {
    this.#resumption?.resolve();
    this.#resumption = undefined;
  }

  abort(): void {
    this.isAborted = true;
    this.resume();
  }

  /** Waits while paused and lets others run; whether to go on. */
  async mayGoOn(): Promise<boolean> {
    await nextTurn();
    await this.#resumption?.promise;
    return !this.isAborted;
  }
}

interface Echo {
  readonly words: readonly string[];
  readonly tokens: number;
  readonly finishReason: 'stop' | 'length';
}

async function answer(
  request: EchoRequest,
  clock: Clock,
  call: EchoCall,
  to: UpstreamListener,
): Promise<void> {
  if (!(await call.mayGoOn())) return;
  to.onStart();
  const { model, choices, isStream, promptTokens } = request;
  const echo = await echoOf(request.said === '' ? NOTHING_SAID : request.said, request.cap);
  const completionTokens = echo.tokens * choices;
  const usage = {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  };
  const created = Math.floor(clock.epochMs() / 1000);
  const frame = { id: `chatcmpl-echo-${created}`, created, model };
  const shownUsage = request.showsUsage ? usage : undefined;

  if (!(await call.mayGoOn())) return;
  to.onHead(200, { 'content-type': isStream ? 'text/event-stream; charset=utf-8' : 'application/json' });
  const parts = isStream ? events(frame, echo, choices, shownUsage) : [whole(frame, echo, choices, usage)];
  for (const part of parts) {
    if (!(await call.mayGoOn())) return;
    to.onData(Buffer.from(part));
  }
  if (await call.mayGoOn()) to.onEnd();
}

/** As many words of the text as the cap allows. */
async function echoOf(text: string, cap: number): Promise<Echo> {
  const words: string[] = [];
  let tokens = 0;
  for (const [word] of text.matchAll(/\s*\S+|\s+$/g)) {
    const more = await countTokens([word]);
    if (tokens + more > cap) return { words, tokens, finishReason: 'length' };
    tokens += more;
    words.push(word);
  }
  return { words, tokens, finishReason: 'stop' };
}

function whole(frame: JsonObject, echo: Echo, choices: number, usage: JsonObject): string {
  const message = { role: 'assistant', content: echo.words.join(''), refusal: null };
  return JSON.stringify({
    ...frame,
    object: 'chat.completion',
    choices: Array.from({ length: choices }, (_, index) => ({
      index,
      message,
      logprobs: null,
      finish_reason: echo.finishReason,
    })),
    usage,
  });
}

function* events(
  frame: JsonObject,
  echo: Echo,
  choices: number,
  usage: JsonObject | undefined,
): Generator<string> {
  const event = (members: JsonObject) =>
    `data: ${JSON.stringify({ ...frame, object: 'chat.completion.chunk', ...members })}\n\n`;
  const piece = (index: number, delta: JsonObject, finishReason: string | null) =>
    event({
      choices: [{ index, delta, logprobs: null, finish_reason: finishReason }],
      ...(usage && { usage: null }),
    });
  for (let index = 0; index < choices; index += 1) {
    yield piece(index, { role: 'assistant', content: '' }, null);
    for (const word of echo.words) yield piece(index, { content: word }, null);
    yield piece(index, {}, echo.finishReason);
  }
  if (usage) yield event({ choices: [], usage });
  yield 'data: [DONE]\n\n';
}
