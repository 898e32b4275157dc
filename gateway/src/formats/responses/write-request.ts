import { defined, isJsonObject, type JsonObject } from '../../wire/json.ts';
import { REQUEST_RULES, writtenUser } from '../peculiarities/request-rules.ts';
import { argumentsSchema, isStrictSchema, openaiSchema } from '../translation/bounded-schema.ts';
import type {
  Conversation,
  CustomTool,
  FunctionTool,
  OutputFormat,
  ToolChoice,
} from '../translation/conversation.ts';
import type { Feature } from '../translation/feature-table.ts';
import type { Losses } from '../translation/losses.ts';
import { effortAskedFor } from '../translation/reasoning.ts';
import {
  type CallableTools,
  callableTools,
  type PlainToolChoice,
  ToolNames,
} from '../translation/tool-names.ts';
import type { TranslationOptions, WrittenRequest } from '../translation/translator.ts';
import { writeInput } from './write-input.ts';

const RULES = REQUEST_RULES.responses;

/** Writes a body of `POST /v1/responses`. */
export function writeRequest(
  conversation: Conversation,
  losses: Losses,
  _options: TranslationOptions,
): WrittenRequest {
  loseWhatHasNoPlace(conversation, losses);
  const names = new ToolNames(RULES.maxNameLength);
  const { instructions, input, hasSealedReasoning } = writeInput(conversation, names, losses);
  const effort = conversation.reasoning && effortAskedFor(conversation.reasoning);
  const wantsReasoning = conversation.reasoning !== undefined && effort !== 'none';
  const { sampling, reasoning } = conversation;
  const text = defined({ format: writeFormat(conversation.outputFormat), verbosity: conversation.verbosity });
  const body = defined({
    model: conversation.model,
    instructions,
    input,
    ...writeTools(conversation, names, losses),
    max_output_tokens: conversation.outputCap && Math.max(conversation.outputCap, RULES.minOutputCap),
    temperature: sampling.temperature,
    top_p: sampling.topP,
    text: Object.keys(text).length > 0 ? text : undefined,
    // Without a summary nothing of the reasoning is ever shown, which callers of other formats expect.
    reasoning:
      reasoning && defined({ effort, summary: wantsReasoning ? (reasoning.summary ?? 'auto') : undefined }),
    // A model that does not reason refuses to be asked for it.
    include: wantsReasoning || hasSealedReasoning ? ['reasoning.encrypted_content'] : undefined,
    stream: conversation.isStream ? true : undefined,
    user: writtenUser(conversation.userId, RULES, losses),
    metadata: conversation.metadata,
    prompt_cache_key: conversation.promptCacheKey,
    prompt_cache_retention: conversation.promptCacheRetention,
    service_tier: conversation.serviceTier,
    // What the provider kept could not be fetched or deleted in the caller's own format.
    store: false,
  });
  return { body, ...names.notes() };
}

function loseWhatHasNoPlace(conversation: Conversation, losses: Losses): void {
  const { sampling, stop = [], choices = 1, logprobs, store, cacheControl, tools, reasoning } = conversation;
  const features: readonly (readonly [Feature, boolean])[] = [
    ['stop', stop.length > 0],
    ['choices', choices > 1],
    ['topK', sampling.topK !== undefined],
    ['seed', sampling.seed !== undefined],
    ['logitBias', sampling.logitBias !== undefined],
    ['logprobs', logprobs !== undefined],
    ['store', store === true],
    ['cacheControl', cacheControl !== undefined || tools.some((tool) => 'cacheControl' in tool)],
    ['reasoningDisplay', reasoning?.display === 'omitted'],
  ];
  for (const [feature, isThere] of features) if (isThere) losses.lose(feature);
  if (sampling.frequencyPenalty !== undefined) losses.lose('penalties', 'frequency_penalty');
  if (sampling.presencePenalty !== undefined) losses.lose('penalties', 'presence_penalty');
}

function writeFormat(format: OutputFormat | undefined): object | undefined {
  switch (format?.type) {
    case undefined:
      return undefined;
    case 'text':
      return { type: 'text' };
    case 'jsonObject':
      return { type: 'json_object' };
    case 'jsonSchema': {
      const { name = 'answer', schema, description, strict = isStrictSchema(schema) || undefined } = format;
      return { type: 'json_schema', name, schema: openaiSchema(schema), ...defined({ description, strict }) };
    }
  }
}

/** The tools, and the choice among them. */
export function writeTools(conversation: Conversation, names: ToolNames, losses: Losses): JsonObject {
  const { toolChoice, parallelToolCalls } = conversation;
  const { toolChoice: _, ...unchosen } = conversation;
  // This format can say which tools are allowed, so all are declared: what comes before them stays in the cache.
  const allowed = toolChoice?.mode === 'allowed' ? toolChoice : undefined;
  const { tools, choice } = callableTools(allowed ? unchosen : conversation, losses);
  if (tools.length === 0) return {};
  return {
    tools: tools.map((tool) =>
      tool.kind === 'function' ? writeFunction(tool, names) : writeCustom(tool, names),
    ),
    ...defined({
      tool_choice: writeToolChoice(allowed ?? choice, tools, names),
      parallel_tool_calls: parallelToolCalls,
    }),
  };
}

function writeFunction(
  { name, description, parameters, strict }: FunctionTool,
  names: ToolNames,
): JsonObject {
  return {
    type: 'function',
    name: names.sent(name),
    ...defined({ description }),
    parameters: argumentsSchema(parameters),
    // Left out, it means true here, and false everywhere else.
    strict: strict ?? false,
  };
}

function writeCustom({ name, description, format }: CustomTool, names: ToolNames): JsonObject {
  const grammar = format?.['grammar'];
  return {
    type: 'custom',
    name: names.sent(name),
    ...defined({ description, format: isJsonObject(grammar) ? { type: 'grammar', ...grammar } : format }),
  };
}

function writeToolChoice(
  choice: PlainToolChoice | Extract<ToolChoice, { mode: 'allowed' }> | undefined,
  tools: CallableTools['tools'],
  names: ToolNames,
): JsonObject | string | undefined {
  const named = (name: string): JsonObject => {
    const isCustom = tools.some((tool) => tool.kind === 'custom' && tool.name === name);
    return { type: isCustom ? 'custom' : 'function', name: names.sent(name) };
  };
  if (!choice) return undefined;
  switch (choice.mode) {
    case 'tool':
      return named(choice.name);
    case 'allowed': {
      const mode = choice.isRequired ? 'required' : 'auto';
      return { type: 'allowed_tools', mode, tools: choice.names.map(named) };
    }
    default:
      return choice.mode;
  }
}
