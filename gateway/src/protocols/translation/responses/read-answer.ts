import { isJsonObject, type JsonObject } from '../../json.ts';
import { readUsage } from '../../openai/usage.ts';
import type { Answer, Stop } from '../answer.ts';
import type { AssistantPart } from '../conversation.ts';
import { textOf } from './provider-values.ts';
import { sealOf, shownReasoning } from './reasoning.ts';

/**
 * A response as an answer; undefined where it is none, or one that failed. Items that no other format has, such as
 * searches that the provider ran, are left out.
 */
export function readAnswer(response: JsonObject): Answer | undefined {
  const { output, status, service_tier: serviceTier, created_at: createdAt } = response;
  if (!Array.isArray(output) || status === 'failed' || status === 'cancelled') return undefined;
  const parts = output.flatMap((item: unknown, index) => (isJsonObject(item) ? partsOf(item, index) : []));
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

function partsOf(item: JsonObject, index: number): AssistantPart[] {
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
          id: callIdOf(item, index),
          kind: isFunction ? 'function' : 'custom',
          name: textOf(item['name']),
          arguments: textOf(item[isFunction ? 'arguments' : 'input']),
        },
      ];
    }
    default:
      return [];
  }
}

/** By which the caller answers a call. */
export function callIdOf(item: JsonObject, index: number): string {
  return textOf(item['call_id']) || textOf(item['id']) || `call_${index}`;
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
