import type { Usage } from '../formats/protocol.ts';

/** A usage in parts that do not overlap and add up to its totals. */
export interface UsageParts {
  readonly uncachedTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWrite5mTokens: number;
  readonly cacheWrite1hTokens: number;
  readonly visibleTokens: number;
  readonly reasoningTokens: number;
}

/** Whatever the usage says of its parts, together they are neither more nor less than its totals. */
export function partsOf(usage: Usage): UsageParts {
  const { promptTokens, completionTokens } = usage;
  const cacheReadTokens = Math.min(usage.cacheReadTokens ?? 0, promptTokens);
  const cacheWriteTokens = Math.min(usage.cacheWriteTokens ?? 0, promptTokens - cacheReadTokens);
  const cacheWrite1hTokens = Math.min(usage.cacheWrite1hTokens ?? 0, cacheWriteTokens);
  const reasoningTokens = Math.min(usage.reasoningTokens ?? 0, completionTokens);
  return {
    uncachedTokens: promptTokens - cacheReadTokens - cacheWriteTokens,
    cacheReadTokens,
    cacheWrite5mTokens: cacheWriteTokens - cacheWrite1hTokens,
    cacheWrite1hTokens,
    visibleTokens: completionTokens - reasoningTokens,
    reasoningTokens,
  };
}
