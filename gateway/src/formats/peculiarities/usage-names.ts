import { isJsonObject, type JsonObject } from '../../wire/json.ts';
import type { Usage } from '../protocol.ts';
import { isTokenCount, serverToolCalls, usageOf } from '../usage-figures.ts';

// What a provider that speaks OpenAI's formats says of its usage: under which names, and where.

type Figure =
  | 'prompt'
  | 'completion'
  | 'total'
  | 'cacheRead'
  | 'cacheWrite'
  | 'cacheWrite5m'
  | 'cacheWrite1h'
  | 'reasoning';
type Path = readonly string[];
/** The members that state a figure, by their path in the usage object. The first that is there counts. */
type Names = { readonly [Name in Figure]?: readonly Path[] };

/** OpenAI's formats. Its own names come before others. */
const OPENAI = {
  // Chat; the Responses API.
  prompt: [['prompt_tokens'], ['input_tokens']],
  completion: [['completion_tokens'], ['output_tokens']],
  total: [['total_tokens']],
  cacheRead: [
    ['prompt_tokens_details', 'cached_tokens'],
    ['input_tokens_details', 'cached_tokens'],
    // DeepSeek, SiliconFlow.
    ['prompt_cache_hit_tokens'],
    // Moonshot, Together, StepFun; Mistral.
    ['cached_tokens'],
    ['num_cached_tokens'],
    // LiteLLM, and other gateways to Anthropic.
    ['cache_read_input_tokens'],
  ],
  cacheWrite: [
    // OpenRouter.
    ['prompt_tokens_details', 'cache_write_tokens'],
    ['input_tokens_details', 'cache_write_tokens'],
    // DashScope.
    ['prompt_tokens_details', 'cache_creation_input_tokens'],
    // LiteLLM.
    ['prompt_tokens_details', 'cache_creation_tokens'],
    ['cache_creation_input_tokens'],
  ],
  // DashScope, LiteLLM.
  cacheWrite5m: [
    ['prompt_tokens_details', 'cache_creation', 'ephemeral_5m_input_tokens'],
    ['cache_creation', 'ephemeral_5m_input_tokens'],
  ],
  cacheWrite1h: [
    ['prompt_tokens_details', 'cache_creation', 'ephemeral_1h_input_tokens'],
    ['cache_creation', 'ephemeral_1h_input_tokens'],
  ],
  reasoning: [
    ['completion_tokens_details', 'reasoning_tokens'],
    ['output_tokens_details', 'reasoning_tokens'],
    // Perplexity, Moonshot.
    ['reasoning_tokens'],
  ],
} as const satisfies Names;

/** Messages, whose providers all use Anthropic's names. */
const ANTHROPIC: Names = {
  prompt: [['input_tokens']],
  cacheRead: [['cache_read_input_tokens']],
  cacheWrite: [['cache_creation_input_tokens']],
  cacheWrite5m: [['cache_creation', 'ephemeral_5m_input_tokens']],
  cacheWrite1h: [['cache_creation', 'ephemeral_1h_input_tokens']],
  completion: [['output_tokens']],
  reasoning: [['output_tokens_details', 'thinking_tokens']],
};

type Counts = { readonly [Name in Figure]?: number };

/** The figures of Anthropic's usage object that are counts. Some servers state OpenAI's, whose prompt covers the cached part. */
export function messageFigures(usage: JsonObject): Counts {
  const own = countsIn(usage, ANTHROPIC);
  if (own.prompt !== undefined || !isTokenCount(usage['prompt_tokens'])) return own;
  const { prompt = 0, total: _, ...others } = countsIn(usage, OPENAI);
  const { cacheRead = 0, cacheWrite = 0 } = others;
  return { ...others, prompt: Math.max(prompt - cacheRead - cacheWrite, 0) };
}

function countsIn(usage: JsonObject, names: Names): Counts {
  const stated = Object.entries(figuresIn(usage, names));
  return Object.fromEntries(stated.filter(([, count]) => isTokenCount(count)));
}

/**
 * The usage object of a chat completion, a text completion, a response or an embedding, which generates nothing. Undefined where a figure
 * that is priced is no count.
 */
export function readUsage(value: unknown, generates = true): Usage | undefined {
  if (!isJsonObject(value)) return undefined;
  const figures = figuresIn(value, OPENAI);
  return usageOf({
    ...figures,
    // Voyage states nothing but the total.
    prompt: figures.prompt ?? cachedAndNot(value) ?? (generates ? undefined : figures.total),
    promptCovers: 'everything',
    completion: figures.completion ?? (generates ? undefined : 0),
    calls: serverToolCalls(value['server_tool_use']),
  });
}

/** The prompt of a provider that states only what its cache had of it, and what it had not. */
function cachedAndNot({
  prompt_cache_hit_tokens: hit,
  prompt_cache_miss_tokens: miss,
}: JsonObject): number | undefined {
  return isTokenCount(hit) && isTokenCount(miss) ? hit + miss : undefined;
}

function figuresIn(usage: JsonObject, names: Names): { readonly [Name in Figure]?: unknown } {
  const figures: { [Name in Figure]?: unknown } = {};
  for (const [name, paths] of Object.entries(names)) {
    const figure = figureIn(usage, paths);
    if (figure !== undefined) figures[name as Figure] = figure;
  }
  return figures;
}

function figureIn(usage: JsonObject, paths: readonly Path[]): unknown {
  for (const path of paths) {
    const value = path.reduce<unknown>(
      (holder, name) => (isJsonObject(holder) ? holder[name] : undefined),
      usage,
    );
    if (value !== undefined && value !== null) return value;
  }
  return undefined;
}

/**
 * The usage object of an answer or of a chunk: its own, or where Groq and Moonshot put it in a stream. Of several the first that states a
 * usage.
 */
export function statedUsage({ usage, x_groq: groq, choices }: JsonObject): JsonObject | undefined {
  const listed: readonly unknown[] = Array.isArray(choices) ? choices : [];
  const holders = [groq, ...listed].filter(isJsonObject);
  const [first, ...others] = [usage, ...holders.map((holder) => holder['usage'])].filter(isJsonObject);
  return others.length === 0 || readUsage(first) ? first : (others.find((one) => readUsage(one)) ?? first);
}

/** True if the usage object says that tokens went into reasoning. */
export function hasReasoningTokens(value: unknown): boolean {
  const tokens = isJsonObject(value) ? figureIn(value, OPENAI.reasoning) : undefined;
  return isTokenCount(tokens) && tokens > 0;
}
