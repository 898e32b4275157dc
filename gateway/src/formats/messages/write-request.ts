import { defined, type JsonObject } from '../../wire/json.ts';
import { REQUEST_RULES, writtenUser } from '../peculiarities/request-rules.ts';
import { areStrictTools, closedSchema, typedSchema } from '../translation/bounded-schema.ts';
import { asFunction } from '../translation/callers-tools.ts';
import type { Conversation, ReasoningEffort, ReasoningRequest } from '../translation/conversation.ts';
import type { Feature } from '../translation/feature-table.ts';
import type { Losses } from '../translation/losses.ts';
import { writeCacheControl } from '../translation/part-members.ts';
import { type CallableTools, callableTools, ToolNames } from '../translation/tool-names.ts';
import type { TranslationOptions, WrittenRequest } from '../translation/translator.ts';
import { withFewBreakpoints } from './breakpoints.ts';
import { writeCalledTools, writeMessages, writeSystem } from './write-messages.ts';

/** The body of a messages request. Where the caller named no output cap the pipeline adds it: the format demands one. */
export function writeRequest(
  callers: Conversation,
  losses: Losses,
  options: TranslationOptions,
): WrittenRequest {
  loseWhatIsMissing(callers, losses);
  const conversation = withFewBreakpoints(callers, losses);
  const names = new ToolNames(REQUEST_RULES.messages.maxNameLength);
  const callable = callableTools(conversation, losses);
  const context = { losses, names, keep: options.keep };
  const { outputFormat } = conversation;
  if (outputFormat?.type === 'jsonSchema' && outputFormat.description !== undefined)
    losses.lose('schemaDescription');
  const { thinking, effort, sampling } = writeReasoning(conversation, callable, losses);
  const format = outputFormat?.type === 'jsonSchema' ? writeSchema(outputFormat.schema, losses) : undefined;
  const userId = writtenUser(conversation.userId, REQUEST_RULES.messages, losses);
  const config = defined({ format, effort });
  const body: JsonObject = {
    model: conversation.model,
    ...writeSystem(conversation),
    messages: writeMessages(conversation, context),
    ...(callable.tools.length === 0
      ? writeCalledTools(conversation, names)
      : writeTools(callable, conversation.parallelToolCalls, context)),
    ...defined({
      max_tokens: conversation.outputCap,
      stop_sequences: writeStop(conversation, losses),
      thinking,
      output_config: Object.keys(config).length > 0 ? config : undefined,
      metadata: userId === undefined ? undefined : { user_id: userId },
      service_tier: writeServiceTier(conversation, losses),
    }),
    ...sampling,
    ...(conversation.isStream && { stream: true }),
    ...writeCacheControl(conversation),
  };
  return { body, ...names.notes(callable.tools) };
}

function writeSchema(callers: JsonObject, losses: Losses): JsonObject {
  const { schema, isLoosened } = closedSchema(callers);
  if (isLoosened) losses.lose('schemaBounds');
  return { type: 'json_schema', schema };
}

/** Reports what Anthropic has no word for. */
function loseWhatIsMissing(conversation: Conversation, losses: Losses): void {
  const { sampling, outputFormat, store } = conversation;
  const lost: readonly (readonly [value: unknown, feature: Feature, path?: string])[] = [
    [conversation.choices, 'choices'],
    [sampling.frequencyPenalty, 'penalties', 'frequency_penalty'],
    [sampling.presencePenalty, 'penalties', 'presence_penalty'],
    [sampling.seed, 'seed'],
    [sampling.logitBias, 'logitBias'],
    [conversation.logprobs, 'logprobs'],
    [outputFormat?.type === 'jsonObject' || undefined, 'jsonObject'],
    [conversation.verbosity, 'verbosity'],
    [conversation.metadata, 'metadata'],
    [store || undefined, 'store'],
    [conversation.promptCacheKey, 'promptCacheKey', 'prompt_cache_key'],
    [conversation.promptCacheRetention, 'promptCacheKey', 'prompt_cache_retention'],
  ];
  for (const [value, feature, path] of lost) if (value !== undefined) losses.lose(feature, path);
}

function writeTools(
  { tools, choice }: CallableTools,
  parallel: boolean | undefined,
  { names, losses }: { readonly names: ToolNames; readonly losses: Losses },
): JsonObject {
  const functions = tools.map((tool) => {
    const { parameters, ...others } = asFunction(tool, losses);
    return { tool, ...others, schema: typedSchema(parameters) };
  });
  const areStrict = areStrictTools(functions.flatMap(({ strict, schema }) => (strict ? [schema] : [])));
  if (!areStrict) losses.lose('strictFunctions', 'tools[].strict');
  const written = functions.map(({ tool, description, strict, schema }) => {
    const isStrict = areStrict && strict;
    return {
      name: names.sent(tool.name),
      ...defined({ description }),
      input_schema: names.sentArguments(tool.name, isStrict ? closedSchema(schema).schema : schema),
      ...(isStrict && { strict: true }),
      ...(tool.kind === 'function' && writeCacheControl(tool)),
    };
  });
  return { tools: written, ...writeToolChoice(choice, parallel, names) };
}

function writeToolChoice(
  choice: CallableTools['choice'],
  parallel: boolean | undefined,
  names: ToolNames,
): JsonObject {
  if (choice?.mode === 'none') return { tool_choice: { type: 'none' } };
  if (!choice && parallel !== false) return {};
  const serial = parallel === false && { disable_parallel_tool_use: true };
  switch (choice?.mode) {
    case 'tool':
      return { tool_choice: { type: 'tool', name: names.sent(choice.name), ...serial } };
    case 'required':
      return { tool_choice: { type: 'any', ...serial } };
    default:
      return { tool_choice: { type: 'auto', ...serial } };
  }
}

function writeStop({ stop }: Conversation, losses: Losses): readonly string[] | undefined {
  // Anthropic refuses them with a message that names nothing of the caller's body.
  if (stop?.some((sequence) => sequence.trim() === '')) losses.lose('blankStop');
  return stop;
}

function writeServiceTier({ serviceTier }: Conversation, losses: Losses): string | undefined {
  switch (serviceTier) {
    case undefined:
    case 'auto':
      return serviceTier;
    case 'default':
      return 'standard_only';
    default:
      losses.lose('serviceTier');
      return undefined;
  }
}

// Thinking and sampling exclude each other in part: while it thinks, Anthropic takes no temperature, no top_k, no top_p
// below 0.95, and no forced tool. And newer models take a temperature or a top_p, but not both.

const MIN_TOP_P_WHILE_THINKING = 0.95;

interface WrittenReasoning {
  readonly thinking: JsonObject | undefined;
  readonly effort: string | undefined;
  readonly sampling: JsonObject;
}

function writeReasoning(
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
