import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../clock.ts';
import { isJsonObject, type JsonObject } from '../protocols/json.ts';
import { promptSize } from '../protocols/openai/prompt-size.ts';
import { countTokens } from '../tokens/count-tokens.ts';
import type { Upstream, UpstreamCall, UpstreamListener } from '../upstreams/upstream.ts';

// A provider without a network: it answers chat completions with the caller's last message, so that a newcomer
// sees a first request pass before having an account anywhere. It stands behind the same interface as an HTTP
// upstream and speaks OpenAI's form, bytes and all, so nothing after it knows the difference.

const NOTHING_SAID = 'Say something, and this model says it back.';

export function createEcho(clock: Clock): Upstream {
  return {
    send(request, listener) {
      const call = new EchoCall();
      answer(JSON.parse(request.body.toString()), clock, call, listener).catch((error: Error) => {
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

async function answer(body: JsonObject, clock: Clock, call: EchoCall, to: UpstreamListener): Promise<void> {
  if (!(await call.mayGoOn())) return;
  to.onStart();
  const messages = Array.isArray(body['messages']) ? body['messages'].filter(isJsonObject) : [];
  const cap = numberOr(body['max_completion_tokens'] ?? body['max_tokens'], Number.POSITIVE_INFINITY);
  const echo = await echoOf(lastWords(messages), cap);
  const choices = numberOr(body['n'], 1);
  const size = promptSize(messages, body);
  const promptTokens = size.overheadTokens + (await countTokens(size.texts));
  const completionTokens = echo.tokens * choices;
  const usage = {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  };
  const created = Math.floor(clock.now() / 1000);
  const frame = { id: `chatcmpl-echo-${created}`, created, model: body['model'] };
  const isStream = body['stream'] === true;
  const options = isJsonObject(body['stream_options']) ? body['stream_options'] : {};
  const shownUsage = options['include_usage'] === true ? usage : undefined;

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

function lastWords(messages: readonly JsonObject[]): string {
  const content = messages.findLast((message) => message['role'] === 'user')?.['content'];
  const parts: readonly unknown[] = Array.isArray(content) ? content : [{ text: content }];
  const text = parts
    .map((part) => (isJsonObject(part) && typeof part['text'] === 'string' ? part['text'] : ''))
    .join('');
  return text === '' ? NOTHING_SAID : text;
}

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}
