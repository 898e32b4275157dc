import { defined, type JsonObject } from '../../wire/json.ts';
import { closedSchema } from '../translation/bounded-schema.ts';
import { writeCacheControl } from '../translation/cache-control.ts';
import { functionOfCustom } from '../translation/callers-tools.ts';
import type { Conversation } from '../translation/conversation.ts';
import type { Feature } from '../translation/feature-table.ts';
import type { Losses } from '../translation/losses.ts';
import type { TranslationOptions } from '../translation/notes.ts';
import { type CallableTools, callableTools, ToolNames } from '../translation/tool-names.ts';
import type { WrittenRequest } from '../translation/translator.ts';
import { ANTHROPIC_USER, writtenUser } from '../translation/user-id.ts';
import { writeCalledTools, writeMessages, writeSystem } from './write-messages.ts';
import { writeReasoning } from './write-reasoning.ts';

const MAX_NAME_LENGTH = 128;

/** The body of a messages request. Where the caller named no output cap the pipeline adds it: the format demands one. */
export function writeRequest(
  conversation: Conversation,
  losses: Losses,
  options: TranslationOptions,
): WrittenRequest {
  loseWhatIsMissing(conversation, losses);
  const names = new ToolNames(MAX_NAME_LENGTH);
  const callable = callableTools(conversation, losses);
  const context = { losses, names, keep: options.keep };
  const { outputFormat } = conversation;
  if (outputFormat?.type === 'jsonSchema' && outputFormat.description !== undefined)
    losses.lose('schemaDescription');
  const { thinking, effort, sampling } = writeReasoning(conversation, callable, losses);
  const format = outputFormat?.type === 'jsonSchema' ? writeSchema(outputFormat.schema, losses) : undefined;
  const userId = writtenUser(conversation.userId, ANTHROPIC_USER, losses);
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
  const customTools = callable.tools.flatMap((tool) => (tool.kind === 'custom' ? names.sent(tool.name) : []));
  return { body, customTools, toolNames: names.renamed };
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
  const written = tools.map((tool) => {
    if (tool.kind === 'custom' && tool.format) losses.lose('customGrammar', `tools[${tool.name}].format`);
    const { description, parameters = {}, strict } = tool.kind === 'custom' ? functionOfCustom(tool) : tool;
    return {
      name: names.sent(tool.name),
      ...defined({ description }),
      input_schema: 'type' in parameters ? parameters : { type: 'object', ...parameters },
      ...(strict === true && { strict }),
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
