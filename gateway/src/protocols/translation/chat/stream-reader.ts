import { numberOf, plainUsage } from '../../exact-json.ts';
import { isJsonObject, type JsonObject } from '../../json.ts';
import { readUsage } from '../../openai/usage.ts';
import { isTokenCount } from '../../usage-figures.ts';
import { streamErrorOf } from '../stream-error.ts';
import { END_MARK, type StreamEvent, type StreamReader } from '../stream-events.ts';
import { stopOf } from './read-answer.ts';
import { plainReasoning } from './reasoning.ts';
import { StreamedCalls } from './stream-calls.ts';
import { ReasoningDetails } from './stream-details.ts';

/** Reads the chunks of a streamed chat completion. Only the first choice: one was asked for. */
export class ChatStreamReader implements StreamReader {
  readonly #calls = new StreamedCalls();
  readonly #details = new ReasoningDetails();
  #hasBegun = false;
  #isFinished = false;
  #hasFailed = false;
  #hasRefusal = false;
  #isDone = false;

  get keptBytes(): number {
    return this.#calls.keptBytes + this.#details.keptBytes;
  }

  read(_event: string, data: unknown): StreamEvent[] {
    if (this.#hasFailed) return [];
    if (!isJsonObject(data)) {
      this.#isDone ||= data === END_MARK && this.#hasBegun;
      return [];
    }
    const choice: unknown = Array.isArray(data['choices']) ? data['choices'][0] : undefined;
    const error = data['error'] ?? (isJsonObject(choice) ? choice['error'] : undefined);
    if (error !== undefined && error !== null) {
      this.#hasFailed = true;
      return [...this.#begin(data), { type: 'error', error: streamErrorOf(error) }];
    }
    const usage = readUsage(plainUsage(data['usage']));
    return [
      ...this.#begin(data),
      ...(isJsonObject(choice) && !this.#isFinished ? this.#readChoice(choice) : []),
      ...(usage ? [{ type: 'usage', usage } as const] : []),
    ];
  }

  end(): StreamEvent[] {
    // Some servers send their end mark without a reason.
    return this.#isDone && !this.#isFinished && !this.#hasFailed ? this.#finish({}) : [];
  }

  #begin({ id, model, service_tier: tier, ...data }: JsonObject): StreamEvent[] {
    if (this.#hasBegun) return [];
    this.#hasBegun = true;
    const created = numberOf(data['created']);
    return [
      {
        type: 'begin',
        id: typeof id === 'string' ? id : '',
        model: typeof model === 'string' ? model : '',
        ...(isTokenCount(created) && { createdSeconds: created }),
        ...(typeof tier === 'string' && { serviceTier: tier }),
      },
    ];
  }

  #readChoice(choice: JsonObject): StreamEvent[] {
    const delta = isJsonObject(choice['delta']) ? choice['delta'] : {};
    const events = this.#readDelta(delta);
    if (this.#calls.hasTooMany) {
      this.#hasFailed = true;
      const message = 'The provider sent more tool calls than are read.';
      return [...events, { type: 'error', error: { message } }];
    }
    return typeof choice['finish_reason'] === 'string' ? [...events, ...this.#finish(choice)] : events;
  }

  #readDelta(delta: JsonObject): StreamEvent[] {
    const { content, refusal } = delta;
    const listed: unknown = delta['reasoning_details'];
    const details = Array.isArray(listed) ? listed.filter(isJsonObject) : [];
    const reasoning = plainReasoning(delta) || this.#details.textOf(details);
    this.#details.add(details);
    const after: StreamEvent[] = [];
    const text = textOf(content);
    if (text !== '') after.push({ type: 'text', text });
    if (typeof refusal === 'string' && refusal !== '') {
      this.#hasRefusal = true;
      after.push({ type: 'refusal', text: refusal });
    }
    const calls = Array.isArray(delta['tool_calls']) ? this.#calls.read(delta['tool_calls']) : [];
    return [
      ...(reasoning === '' ? [] : [{ type: 'reasoning', text: reasoning } as const]),
      ...(after.length + calls.length > 0 ? this.#details.takeSeal() : []),
      ...after,
      ...calls,
    ];
  }

  #finish(choice: JsonObject): StreamEvent[] {
    this.#isFinished = true;
    const stop = stopOf(choice, { hasCalls: this.#calls.hasCalls, hasRefusal: this.#hasRefusal });
    return [...this.#details.takeSeal(), ...this.#calls.end(), { type: 'finish', stop }];
  }
}

/** A piece of the content: text, or parts, of which only text is read. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((part) =>
      isJsonObject(part) && part['type'] === 'text' && typeof part['text'] === 'string' ? part['text'] : '',
    )
    .join('');
}
