import { defined, type JsonObject } from '../../wire/json.ts';
import { fittingName, REQUEST_RULES, shortId, writtenUser } from '../peculiarities/request-rules.ts';
import { argumentsSchema, isStrictSchema, openaiSchema } from '../translation/bounded-schema.ts';
import { asFunction } from '../translation/callers-tools.ts';
import type { Conversation, OutputFormat } from '../translation/conversation.ts';
import { pathOf } from '../translation/feature-table.ts';
import type { Losses } from '../translation/losses.ts';
import { effortAskedFor } from '../translation/reasoning.ts';
import { type CallableTools, callableTools, ToolNames } from '../translation/tool-names.ts';
import type { TranslationOptions, WrittenRequest } from '../translation/translator.ts';
import { writeMessages } from './write-messages.ts';

const RULES = REQUEST_RULES.chat;

/** The body of a chat completion. It does not ask for a stream's usage: that is for the pipeline to do. */
export function writeRequest(
  conversation: Conversation,
  losses: Losses,
  { keep, isStrict = false }: TranslationOptions,
): WrittenRequest {
  const names = new ToolNames(RULES.maxNameLength);
  const callable = callableTools(conversation, losses);
  loseCaching(conversation, losses);
  const callId = isStrict ? shortId : (id: string) => fittingName(id, RULES.maxCallIdLength);
  const { sampling, outputFormat, logprobs } = conversation;
  if (sampling.topK !== undefined) losses.lose('topK');
  const body: JsonObject = {
    model: conversation.model,
    messages: writeMessages(conversation, { losses, names, keep, callId, isStrict }),
    ...writeTools(callable, conversation.parallelToolCalls, names, losses),
    ...defined({
      max_completion_tokens: conversation.outputCap,
      n: conversation.choices,
      stop: writeStop(conversation, losses),
      temperature: sampling.temperature,
      top_p: sampling.topP,
      frequency_penalty: sampling.frequencyPenalty,
      presence_penalty: sampling.presencePenalty,
      seed: sampling.seed,
      logit_bias: sampling.logitBias,
      logprobs: logprobs ? true : undefined,
      top_logprobs: logprobs?.top,
      response_format: outputFormat && writeOutputFormat(outputFormat),
      reasoning_effort: writeEffort(conversation, losses),
      verbosity: conversation.verbosity,
      user: writtenUser(conversation.userId, RULES, losses),
      metadata: conversation.metadata,
      store: conversation.store,
      prompt_cache_key: conversation.promptCacheKey,
      prompt_cache_retention: conversation.promptCacheRetention,
      service_tier: conversation.serviceTier,
    }),
    ...(conversation.isStream && { stream: true }),
  };
  return { body, ...names.notes(callable.tools) };
}

function writeTools(
  { tools, choice }: CallableTools,
  parallel: boolean | undefined,
  names: ToolNames,
  losses: Losses,
): JsonObject {
  // A choice without tools is refused by some providers, and says nothing.
  if (tools.length === 0) return {};
  const written = tools.map((tool) => {
    const { description, parameters, strict } = asFunction(tool, losses);
    return {
      type: 'function',
      function: {
        name: names.sent(tool.name),
        ...defined({ description, parameters: argumentsSchema(parameters), strict }),
      },
    };
  });
  return {
    tools: written,
    ...(choice && {
      tool_choice:
        choice.mode === 'tool'
          ? { type: 'function', function: { name: names.sent(choice.name) } }
          : choice.mode,
    }),
    ...(parallel !== undefined && { parallel_tool_calls: parallel }),
  };
}

function writeOutputFormat(format: OutputFormat): JsonObject {
  switch (format.type) {
    case 'text':
      return { type: 'text' };
    case 'jsonObject':
      return { type: 'json_object' };
    case 'jsonSchema': {
      const { schema, name = 'answer', description, strict = isStrictSchema(schema) || undefined } = format;
      const written = { name, ...defined({ description, strict }), schema: openaiSchema(schema) };
      return { type: 'json_schema', json_schema: written };
    }
  }
}

function writeEffort({ reasoning }: Conversation, losses: Losses): string | undefined {
  if (!reasoning) return undefined;
  if (reasoning.display !== undefined || reasoning.summary !== undefined) losses.lose('reasoningDisplay');
  return effortAskedFor(reasoning);
}

/** The first ones of more than OpenAI takes. */
function writeStop({ stop }: Conversation, losses: Losses): readonly string[] | undefined {
  if (!stop || stop.length <= RULES.maxStops) return stop;
  losses.lose('stop', `${pathOf('stop', losses.from)}[${RULES.maxStops}]`);
  return stop.slice(0, RULES.maxStops);
}

/** OpenAI caches by itself, wherever prompts begin alike. */
function loseCaching({ cacheControl, tools, instructions, turns }: Conversation, losses: Losses): void {
  const parts = [...instructions, ...turns].flatMap((turn): readonly object[] => turn.parts);
  const isMarked = cacheControl !== undefined || [...tools, ...parts].some((item) => 'cacheControl' in item);
  if (isMarked) losses.lose('cacheControl');
}
