import { defined, type JsonObject } from '../../wire/json.ts';
import type { Conversation, ReasoningEffort, ReasoningRequest } from '../translation/conversation.ts';
import type { Losses } from '../translation/losses.ts';
import type { CallableTools } from '../translation/tool-names.ts';

// Thinking and sampling exclude each other in part: while it thinks, Anthropic takes no temperature, no top_k, no top_p
// below 0.95, and no forced tool. And newer models take a temperature or a top_p, but not both.

const MIN_TOP_P_WHILE_THINKING = 0.95;

export interface WrittenReasoning {
  readonly thinking: JsonObject | undefined;
  readonly effort: string | undefined;
  readonly sampling: JsonObject;
}

export function writeReasoning(
  { reasoning, sampling }: Conversation,
  { choice, tools }: CallableTools,
  losses: Losses,
): WrittenReasoning {
  const isForced = tools.length > 0 && (choice?.mode === 'required' || choice?.mode === 'tool');
  if (reasoning?.summary !== undefined) losses.lose('reasoningDisplay');
  let thinking = reasoning && writeThinking(reasoning);
  let isThinking = thinking !== undefined && thinking['type'] !== 'disabled';
  if (isThinking && isForced) {
    losses.lose('reasoningEffort');
    thinking = undefined;
    isThinking = false;
  }
  return {
    thinking,
    effort: reasoning?.effort && effortName(reasoning.effort),
    sampling: writeSampling(sampling, isThinking, losses),
  };
}

function writeThinking({
  thinking,
  effort,
  budgetTokens,
  display,
}: ReasoningRequest): JsonObject | undefined {
  if (thinking === 'disabled' || effort === 'none') return { type: 'disabled' };
  if (thinking === 'enabled' && budgetTokens !== undefined) {
    return { type: 'enabled', budget_tokens: budgetTokens, ...defined({ display }) };
  }
  // With an effort alone, the model decides when to think.
  return thinking !== undefined || effort !== undefined
    ? { type: 'adaptive', ...defined({ display }) }
    : undefined;
}

function effortName(effort: ReasoningEffort): string | undefined {
  if (effort === 'none') return undefined;
  return effort === 'minimal' ? 'low' : effort;
}

function writeSampling(
  { temperature, topP, topK }: Conversation['sampling'],
  isThinking: boolean,
  losses: Losses,
): JsonObject {
  if (isThinking) {
    if (temperature !== undefined && temperature !== 1) losses.lose('temperature');
    if (topK !== undefined) losses.lose('topK');
    const isTaken = topP !== undefined && topP >= MIN_TOP_P_WHILE_THINKING;
    if (topP !== undefined && !isTaken) losses.lose('topP');
    return isTaken ? { top_p: topP } : {};
  }
  if (temperature !== undefined && topP !== undefined) losses.lose('topP');
  // OpenAI's scale ends at 2, Anthropic's at 1.
  if (temperature !== undefined && temperature > 1) losses.lose('temperature');
  return defined({
    temperature: temperature === undefined ? undefined : Math.min(temperature, 1),
    top_p: temperature === undefined ? topP : undefined,
    top_k: topK,
  });
}
