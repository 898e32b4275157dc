import type { ReadExact } from '../../wire/exact-json.ts';
import { isJsonObject, type JsonObject } from '../../wire/json.ts';
import { readUsage } from '../peculiarities/usage-names.ts';
import type { Answer, Stop } from '../translation/answer.ts';
import { CallIds } from '../translation/call-ids.ts';
import type { AssistantPart } from '../translation/conversation.ts';
import type { TranslationNotes } from '../translation/notes.ts';
import { argumentsText } from '../translation/tool-input.ts';
import { textOf } from './provider-values.ts';
import { sealOf, shownReasoning } from './reasoning.ts';

/**
 * A response as an answer; undefined where it is none, or one that failed. Items that no other format has, such as
 * searches that the provider ran, are left out.
 */
export function readAnswer(
  response: JsonObject,
  exact: ReadExact,
  notes: TranslationNotes,
): Answer | undefined {
  const { output, status, service_tier: serviceTier, created_at: createdAt } = response;
  if (!Array.isArray(output) || status === 'failed' || status === 'cancelled') return undefined;
  const ids = new CallIds(notes);
  // Arguments are text, whose numbers are as they were sent; of an object they have to be read so.
  const items = output.some(hasObjectArguments) ? (exact()['output'] as readonly unknown[]) : output;
  const parts = items.flatMap((item: unknown) => (isJsonObject(item) ? partsOf(item, ids) : []));
  const usage = readUsage(response['usage']);
  return {
    id: textOf(response['id']),
    model: textOf(response['model']),
    ...(Number.isSafeInteger(createdAt) && { createdSeconds: createdAt as number }),
    parts,
    stop: stopOf(response, kindsOf(parts)),
    ...(usage && { usage }),
    ...(typeof serviceTier === 'string' && { serviceTier }),
  };
}

function partsOf(item: JsonObject, ids: CallIds): AssistantPart[] {
  switch (item['type']) {
    case 'message':
      return messageParts(item['content']);
    case 'reasoning': {
      const text = shownReasoning(item);
      const seal = sealOf(textOf(item['encrypted_content']), textOf(item['id']) || undefined);
      return text === '' && !seal ? [] : [{ type: 'reasoning', text, ...(seal && { seal }) }];
    }
    case 'function_call':
    case 'custom_tool_call': {
      const isFunction = item['type'] === 'function_call';
      return [
        {
          type: 'toolCall',
          id: ids.give(callIdOf(item)),
          kind: isFunction ? 'function' : 'custom',
          name: textOf(item['name']),
          arguments: argumentsOf(item),
        },
      ];
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

function messageParts(content: unknown): AssistantPart[] {
  if (!Array.isArray(content)) return [];
  return content.flatMap((part: unknown): AssistantPart[] => {
    if (!isJsonObject(part)) return [];
    const isRefusal = part['type'] === 'refusal';
    const text = textOf(part[isRefusal ? 'refusal' : 'text']);
    return text === '' ? [] : [{ type: isRefusal ? 'refusal' : 'text', text }];
  });
}

/** The kinds of content in an answer, as far as they say why the model stopped. */
export interface AnswerKinds {
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
