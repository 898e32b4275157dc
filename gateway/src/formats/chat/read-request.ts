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
import type { Losses } from '../translation/losses.ts';
import { effortOf } from '../translation/reasoning-effort.ts';
import { CHAT_MEMBERS } from './members.ts';
import { readMessages } from './read-messages.ts';
import { readToolChoice, readTools } from './read-tools.ts';

/** Reads the body of `POST /v1/chat/completions` into the neutral form. */
export function readRequest(body: JsonObject, losses: Losses): Conversation {
  CHAT_MEMBERS.lose(body, losses);
  refuseAudio(body, losses);
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
