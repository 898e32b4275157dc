import { isJsonObject } from '../wire/json.ts';
import { MemberReader } from '../wire/member-reader.ts';
import type { Usage, UsageReader } from './protocol.ts';

// Every wire format names its figures differently, and providers of one format do not agree on what includes what. Here
// they become one usage whose parts lie inside its totals. A figure that is no count is treated as not stated, except
// the two without which there is no usage.

const MAX_CALL_NAMES = 16;
const MAX_CALL_NAME_LENGTH = 64;
const CALL_SUFFIX = '_requests';

/** The usage that a provider stated, unchecked. */
export interface StatedUsage {
  /** All of the prompt, or only what had to do with no cache: `promptCovers` says which. */
  readonly prompt: unknown;
  readonly promptCovers: 'everything' | 'uncached';
  readonly completion: unknown;
  readonly total?: unknown;
  readonly cacheRead?: unknown;
  readonly cacheWrite?: unknown;
  readonly cacheWrite5m?: unknown;
  readonly cacheWrite1h?: unknown;
  readonly reasoning?: unknown;
  /** By name. */
  readonly calls?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * The usage that was stated; undefined where prompt or completion is no count. Where the figures contradict each other,
 * every total is the larger of what was stated for it and of what its parts add up to, and parts that do not fit into
 * their total are left out, so that their tokens are priced as uncached input or as output. With the smaller figure, a
 * faulty provider's bill would go unpaid.
 */
export function usageOf(stated: StatedUsage): Usage | undefined {
  const { prompt, completion } = stated;
  if (!isTokenCount(prompt) || !isTokenCount(completion)) return undefined;
  const read = countOf(stated.cacheRead);
  const write = cacheWriteOf(stated);
  const cached = (read ?? 0) + (write?.tokens ?? 0);
  const whole = stated.promptCovers === 'uncached' ? prompt + cached : prompt;
  const total = countOf(stated.total);
  const totals =
    total === undefined
      ? { prompt: whole, completion }
      : explained({ whole, completion, total, cached, reasoning: countOf(stated.reasoning) });
  const reasoning = totals.reasoning ?? countOf(stated.reasoning);
  const fitsPrompt = cached <= totals.prompt && Number.isSafeInteger(totals.prompt);
  const fitsCompletion = (reasoning ?? 0) <= totals.completion && Number.isSafeInteger(totals.completion);
  const isContradictory =
    !fitsPrompt || !fitsCompletion || write?.isContradictory === true || totals.isContradictory === true;
  const calls = callsOf(stated.calls);
  return {
    promptTokens: safe(Math.max(totals.prompt, cached)),
    completionTokens: safe(Math.max(totals.completion, reasoning ?? 0)),
    ...(fitsPrompt && read !== undefined && { cacheReadTokens: read }),
    ...(fitsPrompt && write && { cacheWriteTokens: write.tokens }),
    ...(fitsPrompt && write?.oneHour !== undefined && { cacheWrite1hTokens: write.oneHour }),
    ...(fitsCompletion && reasoning !== undefined && { reasoningTokens: reasoning }),
    ...(calls && { calls }),
    ...(isContradictory && { isContradictory }),
  };
}

/** The calls that Anthropic's form counts: `web_search_requests` becomes `web_search`. */
export function serverToolCalls(value: unknown): Readonly<Record<string, unknown>> | undefined {
  if (!isJsonObject(value)) return undefined;
  const named = Object.entries(value).filter(([name]) => name.endsWith(CALL_SUFFIX));
  return Object.fromEntries(named.map(([name, count]) => [name.slice(0, -CALL_SUFFIX.length), count]));
}

/** True if the usage says how much was generated. A figure of 0 says nothing where there is text. */
export function statesOutput(usage: Usage | undefined): boolean {
  return usage !== undefined && usage.completionTokens > 0;
}

export function isTokenCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

interface Totals {
  readonly prompt: number;
  readonly completion: number;
  readonly reasoning?: number;
  readonly isContradictory?: boolean;
}

/**
 * The totals by which the stated total comes out. Some providers count reasoning beside the completion, some count what a
 * cache served beside the prompt; then the total exceeds the two by exactly that. Gemini states reasoning in the total
 * alone. An excess with no such reason counts as generated.
 */
function explained(figures: {
  readonly whole: number;
  readonly completion: number;
  readonly total: number;
  readonly cached: number;
  readonly reasoning: number | undefined;
}): Totals {
  const { whole, completion, total, cached, reasoning = 0 } = figures;
  const excess = total - whole - completion;
  if (excess === 0) return { prompt: whole, completion };
  if (excess < 0) return { prompt: whole, completion, isContradictory: true };
  if (excess === reasoning) return { prompt: whole, completion: completion + reasoning };
  if (excess === cached) return { prompt: whole + cached, completion };
  if (excess === cached + reasoning) return { prompt: whole + cached, completion: completion + reasoning };
  const all = { prompt: whole, completion: completion + excess };
  return figures.reasoning === undefined ? { ...all, reasoning: excess } : { ...all, isContradictory: true };
}

interface CacheWrite {
  readonly tokens: number;
  readonly oneHour: number | undefined;
  readonly isContradictory: boolean;
}

/** If the split of a write does not add up, the rest counts as one-hour writes, which cost more. */
function cacheWriteOf(stated: StatedUsage): CacheWrite | undefined {
  const tokens = countOf(stated.cacheWrite);
  const fiveMinutes = countOf(stated.cacheWrite5m);
  const oneHour = countOf(stated.cacheWrite1h);
  if (fiveMinutes === undefined && oneHour === undefined) {
    return tokens === undefined ? undefined : { tokens, oneHour, isContradictory: false };
  }
  const split = (fiveMinutes ?? 0) + (oneHour ?? 0);
  const isWhole = fiveMinutes !== undefined && oneHour !== undefined;
  const all = Math.max(tokens ?? 0, split);
  return {
    tokens: all,
    oneHour: fiveMinutes === undefined ? oneHour : all - fiveMinutes,
    isContradictory: tokens !== undefined && (isWhole ? split !== tokens : split > tokens),
  };
}

function callsOf(stated: StatedUsage['calls']): Readonly<Record<string, number>> | undefined {
  const counted = Object.entries(stated ?? {}).filter(
    (entry): entry is [string, number] => isTokenCount(entry[1]) && entry[0].length <= MAX_CALL_NAME_LENGTH,
  );
  return counted.length === 0 ? undefined : Object.fromEntries(counted.slice(0, MAX_CALL_NAMES));
}

function countOf(value: unknown): number | undefined {
  return isTokenCount(value) ? value : undefined;
}

function safe(tokens: number): number {
  return Math.min(tokens, Number.MAX_SAFE_INTEGER);
}

/** Reads the usage of an answer of which nothing else is wanted. */
export class UsageMember implements UsageReader {
  readonly #member = new MemberReader('usage');
  readonly #read: (value: unknown) => Usage | undefined;

  constructor(read: (value: unknown) => Usage | undefined) {
    this.#read = read;
  }

  get usage(): Usage | undefined {
    return this.#read(this.#member.value);
  }

  /** True if the answer has begun and ended. */
  get isWhole(): boolean {
    return this.#member.isWhole;
  }

  push(chunk: Buffer): void {
    this.#member.push(chunk);
  }
}
