import { isJsonObject, type JsonObject } from '../../wire/json.ts';
import { nameOf } from '../../wire/sse.ts';
import type { EventFate, EventReader, ReceivedEvent } from '../answer-stream.ts';
import type { AnswerTally, SpokenKind } from '../answer-tally.ts';
import { inAnthropicsWords, isTooLong } from '../peculiarities/context-length.ts';
import { errorInstead, errorInWords } from '../peculiarities/error-message.ts';
import { finishOf } from '../peculiarities/finish-reasons.ts';
import { type NeutralEvents, streamErrorOf } from '../translation/stream-events.ts';
import { hearBlock, voiceOf } from './pieces.ts';
import { abortErrorOf } from './read-answer.ts';
import { MessagesToNeutral } from './to-neutral.ts';
import { UsageTally } from './usage.ts';

// A stream of a message on its way to the caller. Every event passes byte for byte: pings too, and events that are not
// known here. Its end mark is `message_stop`.

const KNOWN: ReadonlySet<string> = new Set([
  'message_start',
  'content_block_start',
  'content_block_delta',
  'content_block_stop',
  'message_delta',
  'ping',
]);

/** The members of a delta that are pieces of a text, by its type. */
const TEXT_MEMBERS: ReadonlyMap<unknown, string> = new Map([
  ['text_delta', 'text'],
  ['thinking_delta', 'thinking'],
  ['input_json_delta', 'partial_json'],
]);

/** The place of a text in an event that holds nothing else. */
interface OnlyText {
  readonly index: unknown;
  readonly type: unknown;
  readonly member: string;
  readonly voice: string;
  readonly kind: SpokenKind;
}

export class MessagesReader implements EventReader {
  readonly #tally: AnswerTally;
  readonly #usage = new UsageTally();
  readonly #neutral: MessagesToNeutral | undefined;
  #hasStopReason = false;
  #hasBegun = false;
  #hasToldError = false;
  #only: OnlyText | undefined;
  onlyText: string | undefined;

  constructor(tally: AnswerTally, translated?: NeutralEvents) {
    this.#tally = tally;
    this.#neutral = translated && new MessagesToNeutral(translated);
  }

  get keptBytes(): number {
    return this.#neutral?.keptBytes ?? 0;
  }

  /** An end mark is no end of a message that has not begun. */
  isComplete(isDone: boolean): boolean {
    const { hasContent, upstreamError } = this.#tally;
    return (isDone && (this.#hasBegun || hasContent)) || upstreamError !== null || this.#hasStopReason;
  }

  isLate(): boolean {
    return false;
  }

  read(event: ReceivedEvent): EventFate {
    const { bytes, text, data, value: body = {} } = event;
    this.onlyText = undefined;
    // Clients go by the type in the data; servers that leave it out name the event.
    const type = typeof body['type'] === 'string' ? body['type'] : (nameOf(text) ?? '');
    if (type === 'message_stop') {
      this.#neutral?.onEndMark();
      return this.#hasToldError ? 'left out' : 'end mark';
    }
    if (type === 'error' && isJsonObject(body['error'])) {
      this.#tally.upstreamError ??= errorInWords(body);
      this.#neutral?.fail(streamErrorOf(body['error']));
    } else if (KNOWN.has(type)) {
      this.#readKnown(type, body, event);
      const { delta } = body;
      const failure = type === 'message_delta' && isJsonObject(delta) ? abortErrorOf(delta) : undefined;
      if (failure !== undefined) return Buffer.concat([bytes, this.#readOther(bytes, failure)]);
    } else {
      return this.#readOther(bytes, errorInstead(type, data, event.value));
    }
    return bytes;
  }

  readText(text: string): void {
    if (!this.#only) return;
    const { index, type, member, voice, kind } = this.#only;
    this.#tally.hear(voice, text, kind);
    this.#neutral?.readDelta({ index, delta: { type, [member]: text } });
  }

  end(): void {
    this.#neutral?.end();
  }

  /** An event that is none of the format. An error in another shape becomes one that clients read. */
  #readOther(bytes: Buffer, error: string | undefined): Buffer {
    if (error === undefined) return bytes;
    this.#tally.upstreamError ??= error;
    this.#hasToldError = true;
    const told = isTooLong(error)
      ? { type: 'invalid_request_error', message: inAnthropicsWords(error) }
      : { type: 'api_error', message: error };
    this.#neutral?.fail(streamErrorOf(told));
    return Buffer.from(`event: error\ndata: ${JSON.stringify({ type: 'error', error: told })}\n\n`);
  }

  #readKnown(type: string, body: JsonObject, { exact }: ReceivedEvent): void {
    switch (type) {
      case 'message_start': {
        const { message } = body;
        this.#hasBegun = true;
        this.#neutral?.begin(isJsonObject(message) ? message : {});
        // What it says of the output is the first token or two.
        if (isJsonObject(message)) this.#readUsage(message['usage']);
        return;
      }
      case 'content_block_start':
        hearBlock(this.#tally, body['content_block'], body['index']);
        this.#neutral?.startBlock(body, exact);
        return;
      case 'content_block_delta':
        hearBlock(this.#tally, body['delta'], body['index']);
        this.#neutral?.readDelta(body);
        this.#remember(body);
        return;
      case 'content_block_stop':
        this.#neutral?.stopBlock(body['index']);
        return;
      case 'message_delta': {
        const { delta } = body;
        const stop = isJsonObject(delta) ? delta : {};
        if (finishOf(stop['stop_reason']) !== undefined) this.#hasStopReason = true;
        this.#neutral?.finish(stop);
        if (this.#readUsage(body['usage'])) this.#tally.isUsageFinal = true;
      }
    }
  }

  /** True if it says how much was generated. */
  #readUsage(value: unknown): boolean {
    const statesOutput = this.#usage.add(value);
    const { usage } = this.#usage;
    this.#tally.usage = usage;
    this.#tally.hasReasoning ||= (usage?.reasoningTokens ?? 0) > 0;
    if (usage) this.#neutral?.state(usage);
    return statesOutput;
  }

  /** Remembers a delta that is one text and nothing else. */
  #remember({ index, delta }: JsonObject): void {
    if (!isJsonObject(delta) || Object.keys(delta).length !== 2) return;
    const { type } = delta;
    const member = TEXT_MEMBERS.get(type);
    const text = member === undefined ? undefined : delta[member];
    if (member === undefined || typeof text !== 'string' || text === '') return;
    const kind = { isReasoning: member === 'thinking' };
    this.#only = { index, type, member, voice: voiceOf(index, member), kind };
    this.onlyText = text;
  }
}
