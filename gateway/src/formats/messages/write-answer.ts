import type { JsonObject } from '../../wire/json.ts';
import type { Usage } from '../protocol.ts';
import { type Answer, answerId, type ServiceTier, type Stop } from '../translation/answer.ts';
import { jsonArguments } from '../translation/callers-tools.ts';
import type { AssistantPart, ReasoningPart } from '../translation/conversation.ts';
import { sealToText } from '../translation/reasoning.ts';
import { inputOfText } from '../translation/tool-input.ts';
import type { TranslationNotes } from '../translation/translator.ts';
import { STOP_WORDS } from './read-answer.ts';

/** A message for a caller. */
export function writeAnswer(answer: Answer, notes: TranslationNotes): JsonObject {
  return {
    ...messageHead(answer, notes),
    content: answer.parts.map(writeBlock),
    ...writeStop(answer.stop),
    // The format demands a usage; what the provider did not state is the prompt as it was counted here.
    usage: writeUsage(
      answer.usage ?? { promptTokens: notes.promptTokens, completionTokens: 0 },
      answer.serviceTier,
    ),
  };
}

/** The members that a message and the start of a streamed one begin with. */
export function messageHead(
  { id, model }: Pick<Answer, 'id' | 'model'>,
  notes: TranslationNotes,
): JsonObject {
  return {
    id: answerId('msg_', id, notes.requestId),
    type: 'message',
    role: 'assistant',
    model: model || notes.model,
  };
}

function writeBlock(part: AssistantPart): JsonObject {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return { type: 'text', text: part.text };
    case 'reasoning':
      return writeThinking(part);
    case 'toolCall':
      return { type: 'tool_use', id: part.id, name: part.name, input: inputOfText(jsonArguments(part)) };
  }
}

/** A block for reasoning. Clients send thinking blocks back unread, so another provider's seal can stand in one. */
function writeThinking({ text, seal }: ReasoningPart): JsonObject {
  if (!seal) return { type: 'thinking', thinking: text, signature: '' };
  const value = seal.kind === 'signature' || seal.kind === 'redacted' ? seal.value : (sealToText(seal) ?? '');
  return text === '' && seal.kind !== 'signature'
    ? { type: 'redacted_thinking', data: value }
    : { type: 'thinking', thinking: text, signature: value };
}

/** How a message says why it ended. */
export function writeStop({ reason, sequence }: Stop): { stop_reason: string; stop_sequence: string | null } {
  if (reason === 'stopSequence' && sequence !== undefined)
    return { stop_reason: STOP_WORDS.stopSequence, stop_sequence: sequence };
  const said = reason === 'contentFilter' ? 'refusal' : reason === 'stopSequence' ? 'stop' : reason;
  return { stop_reason: STOP_WORDS[said], stop_sequence: null };
}

/** The usage as Anthropic states it: what a cache served or took in stands beside the input. */
export function writeUsage(usage: Usage, serviceTier?: ServiceTier): JsonObject {
  const { promptTokens, completionTokens, cacheReadTokens: read, cacheWriteTokens: write = 0 } = usage;
  const oneHour = usage.cacheWrite1hTokens;
  return {
    input_tokens: Math.max(promptTokens - (read ?? 0) - write, 0),
    cache_creation_input_tokens: write,
    cache_read_input_tokens: read ?? 0,
    ...(oneHour !== undefined && {
      cache_creation: { ephemeral_5m_input_tokens: write - oneHour, ephemeral_1h_input_tokens: oneHour },
    }),
    output_tokens: completionTokens,
    ...(usage.reasoningTokens !== undefined && {
      output_tokens_details: { thinking_tokens: usage.reasoningTokens },
    }),
    // Anthropic has no word for OpenAI's others.
    ...(serviceTier === 'default' && { service_tier: 'standard' }),
    ...(serviceTier === 'priority' && { service_tier: serviceTier }),
  };
}
