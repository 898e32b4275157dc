import type { Route } from '../catalogue/route.ts';
import type { Call } from '../formats/call.ts';
import { COMPACTING } from '../formats/messages/prompt.ts';
import type { Usage } from '../formats/protocol.ts';
import { partsOf } from './usage-parts.ts';

// A provider's usage decides what is billed, and a provider may be wrong or hostile. Usage that is impossible is not
// believed: no organisation pays for more than is possible.

// What a provider puts around a prompt: frames, instructions for the use of tools.
export const FRAME_TOKENS = 4_096;
// A picture, a recording or a file can be all that fits into a model, and so can what a hosted tool finds. The largest
// context that is sold.
export const MAX_CONTEXT = 2_097_152;
// Tools that are only described; others bring text of their own into the prompt.
const DESCRIBED_TOOLS: ReadonlySet<string> = new Set(['function', 'custom']);

// A provider that runs tools itself reads the prompt again after each of them, one that compacts a conversation reads it
// for that, and both count it every time.
export const MAX_TURNS = 10;

/**
 * The most tokens that a provider can have made of the prompt: the route's context where it is stated, for every turn of
 * a provider that runs tools. A prompt that was counted here as more did not fit into the context; where the provider answers
 * it all the same, what was counted is not free. Else the bytes that were sent, since no token is shorter than a byte, and room for what is
 * in the prompt but not in its bytes.
 */
export function mostPromptTokens(
  { maxInputTokens }: Pick<Route, 'maxInputTokens'>,
  {
    promptTokens,
    uncountableParts,
    toolTypes,
  }: Pick<Call, 'promptTokens' | 'uncountableParts' | 'toolTypes'>,
  sentBytes: number,
): number {
  const runsTools = toolTypes.some((type) => !DESCRIBED_TOOLS.has(type));
  if (maxInputTokens !== null) {
    const readsAgain = runsTools || uncountableParts.includes(COMPACTING);
    const once = Math.max(maxInputTokens, promptTokens);
    return Math.min(once * (readsAgain ? MAX_TURNS : 1), Number.MAX_SAFE_INTEGER);
  }
  const bringsMore = runsTools || uncountableParts.length > 0;
  return sentBytes + FRAME_TOKENS + (bringsMore ? MAX_CONTEXT : 0);
}

/** The most tokens that a provider can have generated. */
export function mostCompletionTokens(
  { maxOutputTokens }: Pick<Route, 'maxOutputTokens'>,
  choices: number,
): number {
  return Math.min(maxOutputTokens * choices, Number.MAX_SAFE_INTEGER);
}

export interface Bounds {
  readonly promptTokens: number;
  readonly completionTokens: number;
}

/** The most calls of one name that a request can have made: hosted tools are called one after another. */
export const MAX_CALLS = 1_000;

/** The usage as far as it can be true. The same object when all of it can. */
export function boundedUsage(usage: Usage, bounds: Bounds): Usage {
  const promptTokens = Math.min(usage.promptTokens, bounds.promptTokens);
  const completionTokens = Math.min(usage.completionTokens, bounds.completionTokens);
  const calls = Object.entries(usage.calls ?? {});
  const isPossible =
    promptTokens === usage.promptTokens &&
    completionTokens === usage.completionTokens &&
    calls.every(([, count]) => count <= MAX_CALLS);
  if (isPossible) return usage;
  const bounded = { ...usage, promptTokens, completionTokens };
  const parts = partsOf(bounded);
  const cacheWriteTokens = parts.cacheWrite5mTokens + parts.cacheWrite1hTokens;
  return {
    ...bounded,
    ...(usage.cacheReadTokens !== undefined && { cacheReadTokens: parts.cacheReadTokens }),
    ...(usage.cacheWriteTokens !== undefined && { cacheWriteTokens }),
    ...(usage.cacheWrite1hTokens !== undefined && { cacheWrite1hTokens: parts.cacheWrite1hTokens }),
    ...(usage.reasoningTokens !== undefined && { reasoningTokens: parts.reasoningTokens }),
    ...(usage.calls && {
      calls: Object.fromEntries(calls.map(([name, count]) => [name, Math.min(count, MAX_CALLS)])),
    }),
  };
}
