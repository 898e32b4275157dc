import type { ReadExact } from '../../wire/exact-json.ts';
import { isJsonObject, type JsonObject, textOf } from '../../wire/json.ts';
import { nameOf } from '../../wire/sse.ts';
import type { EventFate, EventReader, ReceivedEvent } from '../answer-stream.ts';
import type { AnswerTally, SpokenKind } from '../answer-tally.ts';
import { isTooLong, TOO_LONG_CODE } from '../peculiarities/context-length.ts';
import { errorInstead } from '../peculiarities/error-message.ts';
import { type NeutralEvents, streamErrorOf } from '../translation/stream-events.ts';
import { statesOutput } from '../usage-figures.ts';
import { type OpenItem, OpenItems } from './items.ts';
import { hearItem, wholeText } from './pieces.ts';
import { hasObjectArguments, idOf, readResponse } from './read-answer.ts';
import { ResponsesToNeutral } from './to-neutral.ts';

// A stream of the Responses API on its way to the caller. It tells its usage by itself, in its last event, which is its
// end mark, so every event passes byte for byte. Each text comes twice: piece by piece, and whole at the end of its
// part, its item and the response. It is read once: the pieces where there were any, else the whole item.

const ENDS: ReadonlySet<string> = new Set([
  'response.completed',
  'response.incomplete',
  'response.failed',
  // OpenRouter.
  'response.done',
]);
const MAX_VOICE_LENGTH = 64;

/** The place of a text in an event that holds nothing else. */
interface OnlyText {
  readonly type: string;
  readonly data: JsonObject;
  readonly item: OpenItem;
  readonly voice: string;
  readonly kind: SpokenKind;
}

export class ResponsesReader implements EventReader {
  readonly #tally: AnswerTally;
  readonly #items = new OpenItems();
  readonly #neutral: ResponsesToNeutral | undefined;
  #hasEnded = false;
  #isDone = false;
  #hasToldError = false;
  #only: OnlyText | undefined;
  onlyText: string | undefined;

  constructor(tally: AnswerTally, translated: NeutralEvents | undefined) {
    this.#tally = tally;
    this.#neutral = translated && new ResponsesToNeutral(translated);
  }

  get keptBytes(): number {
    return this.#neutral ? this.#items.keptBytes : 0;
  }

  /** The end mark of other formats is no end of a response without content. */
  isComplete(isDone: boolean): boolean {
    const { hasContent, upstreamError } = this.#tally;
    return this.#hasEnded || (isDone && hasContent) || upstreamError !== null;
  }

  isLate(): boolean {
    return false;
  }

  read(event: ReceivedEvent): EventFate {
    const { bytes, text, data, value, exact } = event;
    this.onlyText = undefined;
    // Some servers end every kind of stream like this.
    if (data === '[DONE]') {
      this.#isDone = true;
      return this.#hasToldError ? 'left out' : 'end mark';
    }
    // Clients go by the type in the data; servers that leave it out name the event.
    const type = textOf(value?.['type']) || (nameOf(text) ?? '');
    if (value && ENDS.has(type)) {
      this.#readEnd(type, hasObjects(value) ? exact() : value);
      return 'end mark';
    }
    if (!value || !type.startsWith('response.') || type === 'response.error') {
      return this.#readOther(bytes, value, errorInstead(type, data, value));
    }
    this.#readEvent(type, value, exact);
    return bytes;
  }

  readText(text: string): void {
    if (!this.#only) return;
    this.#hear(this.#only, text);
  }

  /** The end mark of other formats ends what has content. */
  end(): void {
    if (this.#isDone && this.#tally.hasContent) this.#neutral?.finish({}, this.#items, undefined);
  }

  /** An event that is none of the format. An error in another shape becomes one that clients read. */
  #readOther(bytes: Buffer, value: JsonObject | undefined, error: string | undefined): Buffer {
    if (error === undefined) return bytes;
    this.#tally.upstreamError ??= error;
    if (value?.['type'] === 'error') {
      const { error: member, code, message } = value;
      this.#neutral?.fail(streamErrorOf(isJsonObject(member) ? member : { code, message }));
      return bytes;
    }
    this.#hasToldError = true;
    const code = isTooLong(error) ? TOO_LONG_CODE : 'upstream_error';
    const told = { type: 'error', sequence_number: 0, code, message: error, param: null };
    this.#neutral?.fail(streamErrorOf({ code, message: error }));
    return Buffer.from(`event: error\ndata: ${JSON.stringify(told)}\n\n`);
  }

  #readEvent(type: string, data: JsonObject, exact: ReadExact): void {
    const { response, item } = data;
    switch (type) {
      case 'response.created':
      case 'response.in_progress':
        if (!isJsonObject(response)) return;
        this.#tally.responseId ??= idOf(response);
        this.#neutral?.begin(response);
        return;
      case 'response.output_item.added':
      case 'response.output_item.done': {
        const open = this.#items.at(data);
        if (!isJsonObject(item) || !open) break;
        const read = this.#neutral && hasObjectArguments(item) ? (exact()['item'] as JsonObject) : item;
        if (type.endsWith('added')) this.#beginItem(open, read);
        else this.#endItem(open, read);
        return;
      }
      case 'response.content_part.added':
        this.#neutral?.beginPart(this.#items.at(data), data['content_index']);
        return;
      default:
        this.#readText(type, data);
    }
    if (this.#items.areTooMany) this.#neutral?.failOfItems();
  }

  /** A piece of a text; all of it where a server sends no pieces. */
  #readText(type: string, data: JsonObject): void {
    const item = this.#items.at(data);
    const isPiece = type.endsWith('.delta');
    const isWhole = type.endsWith('.done') && item?.hasDeltas === false;
    const text = isPiece ? textOf(data['delta']) : isWhole ? wholeText(data) : '';
    if (text === '' || !item) return;
    const { content_index: part, summary_index: summary } = data;
    const place = typeof part === 'number' ? part : typeof summary === 'number' ? summary : '';
    const voice = `${item.key} ${type.slice(0, MAX_VOICE_LENGTH)} ${place}`;
    // Sound comes as base64, beside its words.
    const isCounted = !type.includes('audio') || type.includes('transcript');
    const kind = { isReasoning: type.includes('reasoning'), isCounted };
    this.#only = { type: type.replace(/done$/, 'delta'), data, item, voice, kind };
    item.hasDeltas ||= isPiece;
    if (isPiece) this.onlyText = text;
    this.#hear(this.#only, text);
  }

  #hear({ type, data, item, voice, kind }: OnlyText, text: string): void {
    this.#tally.hear(voice, text, kind);
    item.hasPieces = true;
    this.#neutral?.say(type, data, item, text);
  }

  #beginItem(open: OpenItem, item: JsonObject): void {
    this.#tally.hasReasoning ||= item['type'] === 'reasoning';
    const name = textOf(item['name']);
    if (!open.hasName) this.#tally.hear(`${open.key} name`, name);
    open.hasName ||= name !== '';
    this.#neutral?.addItem(open, item);
  }

  #endItem(open: OpenItem, item: JsonObject): void {
    hearItem(this.#tally, item, `${open.key} done`, open);
    open.hasName = true;
    open.hasPieces = true;
    this.#neutral?.endItem(open, item);
  }

  #readEnd(type: string, event: JsonObject): void {
    this.#hasEnded = true;
    const response = isJsonObject(event['response']) ? event['response'] : {};
    const { usage, hasContent, hasReasoning, upstreamError, responseId } = readResponse(response);
    const tally = this.#tally;
    tally.responseId ??= responseId;
    const output: readonly unknown[] = Array.isArray(response['output']) ? response['output'] : [];
    if (!statesOutput(usage) && tally.generated.isEmpty) {
      for (const [index, item] of output.entries()) hearItem(tally, item, `end ${index}`);
    }
    tally.usage = usage;
    tally.isUsageFinal = usage !== undefined;
    tally.hasContent ||= hasContent;
    tally.hasReasoning ||= hasReasoning;
    const { status } = response;
    const isFailed = type === 'response.failed' || status === 'failed' || status === 'cancelled';
    tally.upstreamError ??= upstreamError ?? (isFailed ? 'an error without a message' : null);
    if (isFailed) this.#neutral?.fail(streamErrorOf(response['error']));
    else if (isJsonObject(event['response'])) this.#neutral?.finish(response, this.#items, usage);
  }
}

/** True if an item of the response holds arguments as an object, whose numbers are read once more. */
function hasObjects({ response }: JsonObject): boolean {
  const output: unknown = isJsonObject(response) ? response['output'] : undefined;
  return Array.isArray(output) && output.some(hasObjectArguments);
}
