import type { ReadExact } from '../../wire/exact-json.ts';
import { isJsonObject, type JsonObject, textOf } from '../../wire/json.ts';
import { type AnswerTally, ReadAnswer, readWhole, type WholeAnswer } from '../answer-tally.ts';
import type { AnswerContent } from '../format.ts';
import { errorInWords } from '../peculiarities/error-message.ts';
import { readUsage } from '../peculiarities/usage-names.ts';
import { type Answer, type Stop, serviceTierOf } from '../translation/answer.ts';
import { CallIds } from '../translation/call-ids.ts';
import type { AssistantPart, RefusalPart, TextPart } from '../translation/conversation.ts';
import { reasoningPart } from '../translation/reasoning.ts';
import { argumentsText } from '../translation/tool-input.ts';
import type { TranslationNotes } from '../translation/translator.ts';
import { isTokenCount } from '../usage-figures.ts';
import { hearItem, hostedCalls } from './pieces.ts';
import { sealOf, shownReasoning } from './reasoning.ts';

// Those of providers have some sixty characters.
const MAX_ID_LENGTH = 256;

/** Reads a response that came whole. Without a list of items, empty or not, it is none. */
export function readResponsesAnswer(body: Buffer): AnswerContent | undefined {
  return readWhole(body, (value) => (Array.isArray(value['output']) ? wholeResponse(value) : undefined));
}

/** The facts of a response that has ended in the last event of a stream. */
export function readResponse(response: JsonObject): AnswerTally {
  return new ReadAnswer(response, wholeResponse(response));
}

function wholeResponse(response: JsonObject): WholeAnswer {
  const usage = readUsage(response['usage']);
  const items: readonly unknown[] = Array.isArray(response['output']) ? response['output'] : [];
  const calls = hostedCalls(items);
  return {
    usage: usage && calls ? { ...usage, calls } : usage,
    hasReasoning: (usage?.reasoningTokens ?? 0) > 0,
    upstreamError: errorOf(response),
    responseId: idOf(response),
    hearAll: (tally) => {
      for (const [position, item] of items.entries()) hearItem(tally, item, String(position));
    },
  };
}

/** The id of a response; undefined where it has none. */
export function idOf({ id }: JsonObject): string | undefined {
  return typeof id === 'string' && id.length <= MAX_ID_LENGTH ? id : undefined;
}

/** The error of a response; null where nothing did: then its `error` is null, or it has none. */
function errorOf(response: JsonObject): string | null {
  const { status, error } = response;
  const isFailed = status === 'failed' || (error !== null && error !== undefined);
  return isFailed ? errorInWords(response) : null;
}

/** The names and times that a response has from its beginning. */
export function beginningOf(
  response: JsonObject,
): Pick<Answer, 'id' | 'model' | 'createdSeconds' | 'serviceTier'> {
  const { created_at: createdAt } = response;
  return {
    id: textOf(response['id']),
    model: textOf(response['model']),
    ...(isTokenCount(createdAt) && { createdSeconds: createdAt }),
    ...serviceTierOf(response),
  };
}

/**
 * A response as an answer; undefined where it is none, or one that failed. Items that no other format has, such as
 * searches that the provider ran, are left out.
 */
export function readAnswer(
  response: JsonObject,
  exact: ReadExact,
  notes: TranslationNotes,
): Answer | undefined {
  const { output, status } = response;
  if (!Array.isArray(output) || status === 'failed' || status === 'cancelled') return undefined;
  const ids = new CallIds(notes);
  // Arguments are text, whose numbers are as they were sent; of an object they have to be read so.
  const items = output.some(hasObjectArguments) ? (exact()['output'] as readonly unknown[]) : output;
  const parts = items.flatMap((item: unknown) => (isJsonObject(item) ? partsOf(item, ids) : []));
  const usage = readUsage(response['usage']);
  return {
    ...beginningOf(response),
    parts,
    stop: stopOf(response, kindsOf(parts)),
    ...(usage && { usage }),
  };
}

function partsOf(item: JsonObject, ids: CallIds): AssistantPart[] {
  switch (item['type']) {
    case 'message':
      return messageParts(item['content']);
    case 'reasoning': {
      const text = shownReasoning(item);
      const seal = sealOf(textOf(item['encrypted_content']), textOf(item['id']) || undefined);
      return reasoningPart(text, seal);
    }
    case 'function_call':
    case 'custom_tool_call': {
      const name = textOf(item['name']);
      if (name === '') return [];
      const kind = item['type'] === 'function_call' ? 'function' : 'custom';
      return [{ type: 'toolCall', id: ids.give(callIdOf(item)), kind, name, arguments: argumentsOf(item) }];
    }
    default:
      return [];
  }
}

/** The id by which the caller answers a call; empty where the provider gave none. */
export function callIdOf(item: JsonObject): string {
  return textOf(item['call_id']) || textOf(item['id']);
}

/** True if the item is a call whose arguments are an object in place of its text. */
export function hasObjectArguments(item: unknown): boolean {
  return isJsonObject(item) && isJsonObject(item['arguments']);
}

/** The arguments of a function's call, or the text of a custom tool's. */
export function argumentsOf(item: JsonObject): string {
  return argumentsText(item[item['type'] === 'function_call' ? 'arguments' : 'input']);
}

export function messageParts(content: unknown): (TextPart | RefusalPart)[] {
  const list: readonly unknown[] =
    typeof content === 'string' ? [{ text: content }] : Array.isArray(content) ? content : [];
  return list.flatMap((part: unknown): (TextPart | RefusalPart)[] => {
    if (!isJsonObject(part)) return [];
    const isRefusal = part['type'] === 'refusal';
    const text = textOf(part[isRefusal ? 'refusal' : 'text']);
    return text === '' ? [] : [{ type: isRefusal ? 'refusal' : 'text', text }];
  });
}

/** The kinds of content in an answer, as far as they say why the model stopped. */
interface AnswerKinds {
  readonly hasCalls: boolean;
  readonly hasRefusal: boolean;
}

function kindsOf(parts: readonly AssistantPart[]): AnswerKinds {
  return {
    hasCalls: parts.some(({ type }) => type === 'toolCall'),
    hasRefusal: parts.some(({ type }) => type === 'refusal'),
  };
}

/** Responses has no word for why a complete answer ended: its items say it. */
export function stopOf(response: JsonObject, { hasCalls, hasRefusal }: AnswerKinds): Stop {
  if (response['status'] === 'incomplete') {
    const details = response['incomplete_details'];
    const reason = isJsonObject(details) ? details['reason'] : undefined;
    return { reason: reason === 'content_filter' ? 'contentFilter' : 'length' };
  }
  if (hasCalls) return { reason: 'toolCalls' };
  return { reason: hasRefusal ? 'refusal' : 'stop' };
}
