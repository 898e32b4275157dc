import type { Route } from '../catalogue/queries.ts';
import type { Call } from '../protocols/call.ts';
import type { Usage } from '../protocols/protocol.ts';

// A provider's usage decides what is billed, and a provider may be wrong or hostile. Usage that is impossible is not
// believed: no organisation pays for more than is possible.

// What a provider puts around a prompt: frames, instructions for the use of tools.
const FRAME_TOKENS = 4_096;
// A picture, a recording or a file can be all that fits into a model, and so can what a hosted tool finds. The largest
// context that is sold.
const LARGEST_CONTEXT = 2_097_152;
// Tools that are only described; others bring text of their own into the prompt.
const DESCRIBED_TOOLS: ReadonlySet<string> = new Set(['function', 'custom']);

/**
 * The most tokens that a provider can have made of the prompt: the route's context where it is stated. Else the bytes
 * that were sent, since no token is shorter than a byte, and room for what is in the prompt but not in its bytes.
 */
export function mostPromptTokens(
  { maxInputTokens }: Pick<Route, 'maxInputTokens'>,
  { uncountableParts, toolTypes }: Pick<Call, 'uncountableParts' | 'toolTypes'>,
  sentBytes: number,
): number {
  if (maxInputTokens !== null) return toNumber(maxInputTokens);
  const bringsMore = uncountableParts.length > 0 || toolTypes.some((type) => !DESCRIBED_TOOLS.has(type));
  return sentBytes + FRAME_TOKENS + (bringsMore ? LARGEST_CONTEXT : 0);
}

/** The most tokens that a provider can have generated. */
export function mostCompletionTokens(
  { maxOutputTokens }: Pick<Route, 'maxOutputTokens'>,
  choices: number,
): number {
  return Math.min(toNumber(maxOutputTokens) * choices, Number.MAX_SAFE_INTEGER);
}

export interface Bounds {
  readonly promptTokens: number;
  readonly completionTokens: number;
}

/** The usage as far as it can be true. The same object when all of it can. */
export function boundedUsage(usage: Usage, bounds: Bounds): Usage {
  const promptTokens = Math.min(usage.promptTokens, bounds.promptTokens);
  const completionTokens = Math.min(usage.completionTokens, bounds.completionTokens);
  if (promptTokens === usage.promptTokens && completionTokens === usage.completionTokens) return usage;
  const { cacheReadTokens, cacheWriteTokens } = usage;
  const read = cacheReadTokens === undefined ? undefined : Math.min(cacheReadTokens, promptTokens);
  const rest = promptTokens - (read ?? 0);
  return {
    promptTokens,
    completionTokens,
    ...(read !== undefined && { cacheReadTokens: read }),
    ...(cacheWriteTokens !== undefined && { cacheWriteTokens: Math.min(cacheWriteTokens, rest) }),
  };
}

function toNumber(tokens: bigint): number {
  return tokens > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(tokens);
}
