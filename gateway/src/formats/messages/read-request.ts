import { isJsonObject, type JsonObject } from '../../wire/json.ts';
import { BodyError } from '../request-facts.ts';
import {
  defined,
  optionalBoolean,
  optionalList,
  optionalNumber,
  optionalObject,
  optionalText,
  optionalTexts,
  requireObject,
  requireText,
} from '../translation/body-members.ts';
import { readCacheControl } from '../translation/cache-control.ts';
import type { Conversation, OutputFormat, ReasoningRequest, Turn } from '../translation/conversation.ts';
import type { Losses } from '../translation/losses.ts';
import { effortOf } from '../translation/reasoning-effort.ts';
import { MESSAGES_MEMBERS } from './members.ts';
import { readAssistantParts, readTexts, readUserParts } from './read-blocks.ts';
import { readToolChoice, readTools } from './read-tools.ts';

/** A line of Claude Code for Anthropic alone. It changes with every request, and a prompt that begins with it is in no cache. */
const ATTRIBUTION = /^x-anthropic-billing-header:[^\n]*\n?$/;

/** Reads the body of `POST /v1/messages` into the neutral form. */
export function readRequest(body: JsonObject, losses: Losses): Conversation {
  MESSAGES_MEMBERS.lose(body, losses);
  const tools = readTools(optionalList(body, 'tools') ?? [], losses);
  const config = optionalObject(body, 'output_config') ?? {};
  const instructions = readTexts(body['system'], 'system', losses).filter((part) => {
    const isAttribution = ATTRIBUTION.test(part.text);
    if (isAttribution) losses.lose('unknownMember', 'system[x-anthropic-billing-header]');
    return !isAttribution;
  });
  const choice = optionalObject(body, 'tool_choice');
  const serial =
    choice && optionalBoolean(choice, 'disable_parallel_tool_use', 'tool_choice.disable_parallel_tool_use');
  return {
    model: requireText(body['model'], 'model'),
    instructions: instructions.length > 0 ? [{ role: 'system', parts: instructions }] : [],
    turns: (optionalList(body, 'messages') ?? []).map((message, index) =>
      readTurn(message, `messages[${index}]`, losses),
    ),
    tools,
    ...defined({
      toolChoice: choice && readToolChoice(choice, tools),
      parallelToolCalls: serial === undefined ? undefined : !serial,
      outputCap: optionalNumber(body, 'max_tokens'),
      stop: readStop(body),
      outputFormat: readOutputFormat(body, config),
      reasoning: readReasoning(body, config),
      userId: readUser(body),
      serviceTier: readServiceTier(body),
    }),
    sampling: defined({
      temperature: optionalNumber(body, 'temperature'),
      topP: optionalNumber(body, 'top_p'),
      topK: optionalNumber(body, 'top_k'),
    }),
    isStream: optionalBoolean(body, 'stream') ?? false,
    showsUsage: true,
    ...readCacheControl(body),
  };
}

function readTurn(item: unknown, path: string, losses: Losses): Turn {
  const message = requireObject(item, path);
  const content = message['content'];
  const at = `${path}.content`;
  switch (message['role']) {
    case 'user':
      return { role: 'user', parts: readUserParts(content, at, losses) };
    case 'assistant':
      return { role: 'assistant', parts: readAssistantParts(content, at, losses) };
    case 'system':
      return { role: 'system', parts: readTexts(content, at, losses) };
    default:
      throw new BodyError(`${path}.role must be user, assistant or system.`, `${path}.role`);
  }
}

function readStop(body: JsonObject): readonly string[] | undefined {
  const stop = optionalTexts(body, 'stop_sequences');
  return stop && stop.length > 0 ? stop : undefined;
}

function readOutputFormat(body: JsonObject, config: JsonObject): OutputFormat | undefined {
  // The second name is the one that the beta had.
  const [format, path] = isJsonObject(config['format'])
    ? [config['format'], 'output_config.format']
    : [optionalObject(body, 'output_format'), 'output_format'];
  if (!format) return undefined;
  if (format['type'] !== 'json_schema')
    throw new BodyError(`${path}.type must be json_schema.`, `${path}.type`);
  return { type: 'jsonSchema', schema: requireObject(format['schema'], `${path}.schema`) };
}

function readReasoning(body: JsonObject, config: JsonObject): ReasoningRequest | undefined {
  const thinking = optionalObject(body, 'thinking');
  const effort = optionalText(config, 'effort', 'output_config.effort');
  const request: ReasoningRequest = {
    ...(effort !== undefined && { effort: effortOf(effort, 'output_config.effort') }),
    ...(thinking && readThinking(thinking)),
  };
  return Object.keys(request).length > 0 ? request : undefined;
}

function readThinking(thinking: JsonObject): ReasoningRequest {
  const type = thinking['type'];
  if (type !== 'enabled' && type !== 'adaptive' && type !== 'disabled') {
    throw new BodyError('thinking.type must be adaptive, enabled or disabled.', 'thinking.type');
  }
  return {
    thinking: type,
    ...defined({
      budgetTokens:
        type === 'enabled' ? optionalNumber(thinking, 'budget_tokens', 'thinking.budget_tokens') : undefined,
      display: optionalText(thinking, 'display', 'thinking.display'),
    }),
  };
}

function readUser(body: JsonObject): string | undefined {
  const metadata = optionalObject(body, 'metadata');
  return metadata && optionalText(metadata, 'user_id', 'metadata.user_id');
}

function readServiceTier(body: JsonObject): string | undefined {
  const tier = optionalText(body, 'service_tier');
  return tier === 'standard_only' ? 'default' : tier;
}
