import type { JsonObject } from '../../wire/json.ts';
import { BodyError } from '../request-facts.ts';
import {
  defined,
  optionalBoolean,
  optionalList,
  optionalNumber,
  optionalObject,
  optionalText,
  optionalTexts,
  requireText,
} from '../translation/body-members.ts';
import { readCacheControl } from '../translation/cache-control.ts';
import type { Conversation, OutputFormat, ReasoningRequest, Sampling } from '../translation/conversation.ts';
import type { Feature } from '../translation/features.ts';
import type { Losses } from '../translation/losses.ts';
import { effortOf } from '../translation/reasoning-effort.ts';
import { readMessages } from './read-messages.ts';
import { readToolChoice, readTools } from './read-tools.ts';

/** The members that the reader knows. */
const KNOWN = new Set([
  ...[
    'model',
    'messages',
    'tools',
    'tool_choice',
    'parallel_tool_calls',
    'n',
    'stop',
    'stream',
    'stream_options',
  ],
  ...['max_tokens', 'max_completion_tokens', 'temperature', 'top_p', 'frequency_penalty', 'presence_penalty'],
  ...['seed', 'logit_bias', 'logprobs', 'top_logprobs', 'response_format', 'reasoning_effort', 'verbosity'],
  ...['user', 'safety_identifier', 'metadata', 'store', 'prompt_cache_key', 'prompt_cache_retention'],
  ...['service_tier', 'modalities', 'audio', 'web_search_options', 'functions', 'function_call', 'top_k'],
  'cache_control',
]);

/** Members that no other format has a word for. */
const LOST: readonly (readonly [name: string, feature: Feature])[] = [
  ['web_search_options', 'webSearchOptions'],
  ['functions', 'functionCall'],
  ['function_call', 'functionCall'],
];

/** Reads the body of `POST /v1/chat/completions` into the neutral form. */
export function readRequest(body: JsonObject, losses: Losses): Conversation {
  for (const [name, feature] of LOST) {
    if ((body[name] ?? undefined) !== undefined) losses.lose(feature, name);
  }
  refuseAudio(body, losses);
  for (const [name, value] of Object.entries(body)) {
    if (!KNOWN.has(name) && value !== null) losses.lose('unknownMember', name);
  }
  const { instructions, turns } = readMessages(body['messages'], losses);
  const tools = readTools(optionalList(body, 'tools') ?? []);
  const caps = ['max_tokens', 'max_completion_tokens'].flatMap((name) => optionalNumber(body, name) ?? []);
  const choices = optionalNumber(body, 'n');
  return {
    model: requireText(body['model'], 'model'),
    instructions,
    turns,
    tools,
    ...defined({
      toolChoice: readToolChoice(body['tool_choice']),
      parallelToolCalls: optionalBoolean(body, 'parallel_tool_calls'),
      outputCap: caps.length === 0 ? undefined : Math.min(...caps),
      choices: choices === 1 ? undefined : choices,
      stop: readStop(body),
      logprobs: readLogprobs(body),
      outputFormat: readOutputFormat(body),
      reasoning: readReasoning(body),
      verbosity: optionalText(body, 'verbosity'),
      userId: optionalText(body, 'safety_identifier') ?? optionalText(body, 'user'),
      metadata: optionalObject(body, 'metadata'),
      store: optionalBoolean(body, 'store'),
      promptCacheKey: optionalText(body, 'prompt_cache_key'),
      promptCacheRetention: optionalText(body, 'prompt_cache_retention'),
      serviceTier: optionalText(body, 'service_tier'),
    }),
    sampling: readSampling(body),
    isStream: optionalBoolean(body, 'stream') ?? false,
    showsUsage: optionalObject(body, 'stream_options')?.['include_usage'] === true,
    ...readCacheControl(body),
  };
}

function refuseAudio(body: JsonObject, losses: Losses): void {
  const modalities = optionalTexts(body, 'modalities') ?? [];
  if (modalities.some((modality) => modality !== 'text')) losses.lose('audioOutput', 'modalities');
  else if (optionalObject(body, 'audio')) losses.lose('audioOutput', 'audio');
}

function readSampling(body: JsonObject): Sampling {
  // A penalty of 0 and a bias of nothing are what every provider does by itself.
  const nonZero = (name: string) => optionalNumber(body, name) || undefined;
  const logitBias = optionalObject(body, 'logit_bias');
  return defined({
    temperature: optionalNumber(body, 'temperature'),
    topP: optionalNumber(body, 'top_p'),
    topK: optionalNumber(body, 'top_k'),
    frequencyPenalty: nonZero('frequency_penalty'),
    presencePenalty: nonZero('presence_penalty'),
    seed: optionalNumber(body, 'seed'),
    logitBias: logitBias && Object.keys(logitBias).length > 0 ? logitBias : undefined,
  });
}

function readStop(body: JsonObject): readonly string[] | undefined {
  const stop = typeof body['stop'] === 'string' ? [body['stop']] : optionalTexts(body, 'stop');
  return stop && stop.length > 0 ? stop : undefined;
}

function readLogprobs(body: JsonObject): Conversation['logprobs'] {
  if (optionalBoolean(body, 'logprobs') !== true) return undefined;
  return defined({ top: optionalNumber(body, 'top_logprobs') });
}

function readOutputFormat(body: JsonObject): OutputFormat | undefined {
  const format = optionalObject(body, 'response_format');
  if (!format) return undefined;
  switch (format['type']) {
    case 'text':
      return { type: 'text' };
    case 'json_object':
      return { type: 'jsonObject' };
    case 'json_schema': {
      const path = 'response_format.json_schema';
      const schema = optionalObject(format, 'json_schema', path) ?? {};
      return {
        type: 'jsonSchema',
        schema: optionalObject(schema, 'schema', `${path}.schema`) ?? {},
        ...defined({
          name: optionalText(schema, 'name', `${path}.name`),
          description: optionalText(schema, 'description', `${path}.description`),
          strict: optionalBoolean(schema, 'strict', `${path}.strict`),
        }),
      };
    }
    default:
      throw new BodyError(
        'response_format.type must be text, json_object or json_schema.',
        'response_format.type',
      );
  }
}

function readReasoning(body: JsonObject): ReasoningRequest | undefined {
  const effort = optionalText(body, 'reasoning_effort');
  return effort === undefined ? undefined : { effort: effortOf(effort, 'reasoning_effort') };
}
