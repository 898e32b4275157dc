import { defined, type JsonObject } from '../../wire/json.ts';
import type { Usage } from '../protocol.ts';
import { type Answer, answerId, type StopReason } from '../translation/answer.ts';
import type { AssistantPart, ReasoningPart, ToolCallPart } from '../translation/conversation.ts';
import type { TranslationNotes } from '../translation/translator.ts';
import { detailOf } from './reasoning.ts';

/** A chat completion for a caller. */
export function writeAnswer(answer: Answer, notes: TranslationNotes): JsonObject {
  const message = writeMessage(answer.parts);
  const finish = finishReason(answer.stop.reason, message['refusal'] !== null);
  return {
    id: answerId('chatcmpl-', answer.id, notes.requestId),
    object: 'chat.completion',
    created: answer.createdSeconds ?? notes.createdSeconds,
    model: answer.model || notes.model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: finish }],
    ...(answer.usage && { usage: writeUsage(answer.usage) }),
    ...defined({ service_tier: answer.serviceTier }),
  };
}

function writeMessage(parts: readonly AssistantPart[]): JsonObject {
  const textOf = (type: 'text' | 'refusal' | 'reasoning') =>
    parts.flatMap((part) => (part.type === type ? [part.text] : [])).join('');
  const text = textOf('text');
  const refusal = textOf('refusal');
  const calls = parts.filter((part) => part.type === 'toolCall');
  return {
    role: 'assistant',
    content: text === '' && (calls.length > 0 || refusal !== '') ? null : text,
    refusal: refusal === '' ? null : refusal,
    ...writeReasoning(parts.filter((part) => part.type === 'reasoning')),
    ...(calls.length > 0 && { tool_calls: calls.map(writeCall) }),
  };
}

function writeReasoning(reasoning: readonly ReasoningPart[]): JsonObject {
  const text = reasoning.map((part) => part.text).join('');
  const isSealed = reasoning.some(({ seal }) => seal !== undefined);
  return {
    ...(text !== '' && { reasoning_content: text }),
    ...(isSealed && { reasoning_details: reasoning.map(detailOf) }),
  };
}

function writeCall({ id, kind, name, arguments: written }: ToolCallPart): JsonObject {
  return kind === 'custom'
    ? { id, type: 'custom', custom: { name, input: written } }
    : { id, type: 'function', function: { name, arguments: written } };
}

const FINISH_REASONS: Readonly<Record<StopReason, string>> = {
  stop: 'stop',
  stopSequence: 'stop',
  length: 'length',
  contextWindow: 'length',
  toolCalls: 'tool_calls',
  contentFilter: 'content_filter',
  refusal: 'content_filter',
  pause: 'stop',
};

/** A model that refuses in its own words has stopped: SDKs throw at `content_filter` before they read them. */
export function finishReason(reason: StopReason, hasRefusal: boolean): string {
  return FINISH_REASONS[reason === 'refusal' && hasRefusal ? 'stop' : reason];
}

/** The usage as OpenAI's chat states it: what a cache served or took in lies within the prompt. */
export function writeUsage(usage: Usage): JsonObject {
  const { promptTokens, completionTokens } = usage;
  const prompt = defined({
    cached_tokens: usage.cacheReadTokens,
    cache_write_tokens: usage.cacheWriteTokens,
  });
  const completion = defined({ reasoning_tokens: usage.reasoningTokens });
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    ...(Object.keys(prompt).length > 0 && { prompt_tokens_details: prompt }),
    ...(Object.keys(completion).length > 0 && { completion_tokens_details: completion }),
  };
}
