import type { ReadExact } from '../../wire/exact-json.ts';
import { isJsonObject, type JsonObject } from '../../wire/json.ts';
import { finishOf } from '../peculiarities/finish-reasons.ts';
import { readUsage, statedUsage } from '../peculiarities/usage-names.ts';
import type { Answer, Stop } from '../translation/answer.ts';
import { CallIds } from '../translation/call-ids.ts';
import type { AssistantPart } from '../translation/conversation.ts';
import type { TranslationNotes } from '../translation/notes.ts';
import { argumentsText } from '../translation/tool-input.ts';
import { isTokenCount } from '../usage-figures.ts';
import { textOfContent } from './content-text.ts';
import { extraSeal } from './extra-content.ts';
import { isFailedChoice } from './facts-of-answer.ts';
import { plainReasoning, plainSeal, sealOfDetails, textOfDetails } from './reasoning.ts';

const MAX_CALLS = 1_024;
/** Members of a message of which the caller may get numbers. */
const WITH_NUMBERS = ['tool_calls', 'reasoning_details'] as const;

/** Reads a chat completion of a provider. Of several choices the first: one was asked for. Undefined for one that failed. */
export function readAnswer(
  answer: JsonObject,
  exact: ReadExact,
  notes: TranslationNotes,
): Answer | undefined {
  const choice = choiceOf(answer);
  const message = messageOf(choice);
  if (!choice || !message || isFailedChoice(choice)) return undefined;
  const hasNumbers = WITH_NUMBERS.some((name) => Array.isArray(message[name]));
  const parts = readParts((hasNumbers ? messageOf(choiceOf(exact())) : undefined) ?? message, notes);
  const usage = readUsage(statedUsage(answer));
  const { id, model, created, service_tier: tier } = answer;
  return {
    id: typeof id === 'string' ? id : '',
    model: typeof model === 'string' ? model : '',
    parts,
    stop: stopOf(choice, {
      hasCalls: parts.some((part) => part.type === 'toolCall'),
      hasRefusal: parts.some((part) => part.type === 'refusal'),
    }),
    ...(isTokenCount(created) && { createdSeconds: created }),
    ...(usage && { usage }),
    ...(typeof tier === 'string' && { serviceTier: tier }),
  };
}

function choiceOf({ choices }: JsonObject): JsonObject | undefined {
  return Array.isArray(choices) ? choices.find(isJsonObject) : undefined;
}

function messageOf(choice: JsonObject | undefined): JsonObject | undefined {
  const message = choice?.['message'];
  return isJsonObject(message) ? message : undefined;
}

function readParts(message: JsonObject, notes: TranslationNotes): AssistantPart[] {
  const ids = new CallIds(notes);
  const parts: AssistantPart[] = readReasoning(message, notes);
  const { content, refusal, tool_calls: calls } = message;
  const text = textOfContent(content);
  if (text !== '') parts.push({ type: 'text', text });
  if (typeof refusal === 'string' && refusal !== '') parts.push({ type: 'refusal', text: refusal });
  const listed = Array.isArray(calls) ? calls.slice(0, MAX_CALLS) : [];
  for (const call of listed) if (isJsonObject(call)) parts.push(...readCall(call, ids));
  return parts;
}

function readReasoning(message: JsonObject, { keepsReasoning }: TranslationNotes): AssistantPart[] {
  const listed: unknown = message['reasoning_details'];
  const details = Array.isArray(listed) ? listed.filter(isJsonObject) : [];
  const plain = plainReasoning(message);
  const text = plain || textOfDetails(details);
  const seal = sealOfDetails(details) ?? plainSeal(plain, keepsReasoning);
  return text === '' && !seal ? [] : [{ type: 'reasoning', text, ...(seal && { seal }) }];
}

function readCall(call: JsonObject, ids: CallIds): AssistantPart[] {
  const called = isJsonObject(call['function']) ? call['function'] : call['custom'];
  if (!isJsonObject(called) || typeof called['name'] !== 'string') return [];
  const id = ids.give(typeof call['id'] === 'string' ? call['id'] : '');
  const seal = extraSeal(id, call['extra_content']);
  return [
    ...(seal ? [{ type: 'reasoning', text: '', seal } as const] : []),
    {
      type: 'toolCall',
      id,
      kind: isJsonObject(call['function']) ? 'function' : 'custom',
      name: called['name'],
      arguments: argumentsText(called['arguments'] ?? called['input']),
    },
  ];
}

/** Why a choice ended. Some servers say stop where they call tools; after a reason that is on no list the answer may not be whole. */
export function stopOf(
  choice: JsonObject,
  { hasCalls, hasRefusal }: { readonly hasCalls: boolean; readonly hasRefusal: boolean },
): Stop {
  switch (finishOf(choice['finish_reason'])) {
    case 'length':
    case 'unknown':
      return { reason: 'length' };
    case 'contentFilter':
      return { reason: 'contentFilter' };
    default: {
      if (hasCalls) return { reason: 'toolCalls' };
      if (hasRefusal) return { reason: 'refusal' };
      // vLLM and its kin say which stop sequence it was.
      const sequence = choice['stop_reason'];
      return typeof sequence === 'string' && sequence !== ''
        ? { reason: 'stopSequence', sequence }
        : { reason: 'stop' };
    }
  }
}
