import { defined, isJsonObject, type JsonObject } from '../../wire/json.ts';
import { BodyObject } from '../translation/body-object.ts';
import { argumentsSchema, isStrictSchema } from '../translation/bounded-schema.ts';
import type {
  AssistantPart,
  Conversation,
  OutputFormat,
  ReasoningRequest,
  Tool,
  ToolChoice,
  Turn,
} from '../translation/conversation.ts';
import type { Losses } from '../translation/losses.ts';
import { readCacheControl } from '../translation/part-members.ts';
import { readEffort } from '../translation/reasoning.ts';
import { MESSAGES_MEMBERS } from './members.ts';
import { readAssistantParts, readTexts, readUserParts } from './read-blocks.ts';

/** A line of Claude Code for Anthropic alone. It changes with every request, and a prompt that begins with it is in no cache. */
const ATTRIBUTION = /^x-anthropic-billing-header:[^\n]*(?:\n|$)/;

const CONFIG_MEMBERS = new Set(['format', 'effort']);
const MESSAGE_MEMBERS = new Set(['role', 'content']);

/** Reads the body of `POST /v1/messages` into the neutral form. */
export function readRequest(value: JsonObject, losses: Losses): Conversation {
  const body = new BodyObject(value, '', losses);
  MESSAGES_MEMBERS.lose(value, losses);
  const tools = Array.from(body.optionalObjects('tools'), readTool);
  const config = body.optionalObject('output_config');
  config?.loseOthers(CONFIG_MEMBERS, 'output_config');
  const instructions = readTexts(body, 'system').flatMap((part) => {
    const text = part.text.replace(ATTRIBUTION, '');
    if (text === part.text) return [part];
    losses.lose('unknownMember', 'system[x-anthropic-billing-header]');
    return text === '' ? [] : [{ ...part, text }];
  });
  const choice = body.optionalObject('tool_choice');
  const serial = choice?.optionalBoolean('disable_parallel_tool_use');
  return {
    model: body.text('model'),
    instructions: instructions.length > 0 ? [{ role: 'system', parts: instructions }] : [],
    turns: readTurns(body),
    tools,
    ...defined({
      toolChoice: choice && readToolChoice(choice, tools),
      parallelToolCalls: serial === undefined ? undefined : !serial,
      outputCap: body.optionalNumber('max_tokens'),
      stop: readStop(body),
      outputFormat: readOutputFormat(body, config),
      reasoning: readReasoning(body, config),
      userId: body.optionalObject('metadata')?.optionalText('user_id'),
      serviceTier: readServiceTier(body),
    }),
    sampling: defined({
      temperature: body.optionalNumber('temperature'),
      topP: body.optionalNumber('top_p'),
      topK: body.optionalNumber('top_k'),
    }),
    isStream: body.optionalBoolean('stream') ?? false,
    showsUsage: true,
    ...readCacheControl(body),
  };
}

/** Anthropic reads one turn in messages of the assistant that follow one another, as of a client that keeps each block on its own. */
function readTurns(body: BodyObject): readonly Turn[] {
  const turns: Turn[] = [];
  let said: AssistantPart[] | undefined;
  for (const message of body.optionalObjects('messages')) {
    message.loseOthers(MESSAGE_MEMBERS, 'messages[]');
    const turn = readTurn(message);
    if (turn.role === 'assistant' && said) {
      for (const part of turn.parts) said.push(part);
      continue;
    }
    said = turn.role === 'assistant' ? [...turn.parts] : undefined;
    turns.push(turn.role === 'assistant' ? { ...turn, parts: said ?? [] } : turn);
  }
  return turns;
}

function readTurn(message: BodyObject): Turn {
  const { role } = message.value;
  switch (role) {
    case 'user':
      return { role, parts: readUserParts(message) };
    case 'assistant':
      return { role, parts: readAssistantParts(message) };
    case 'system':
      return { role, parts: readTexts(message) };
    default:
      throw message.error('role', 'must be user, assistant or system.');
  }
}

function readStop(body: BodyObject): readonly string[] | undefined {
  const stop = body.optionalTexts('stop_sequences');
  return stop && stop.length > 0 ? stop : undefined;
}

function readOutputFormat(body: BodyObject, config: BodyObject | undefined): OutputFormat | undefined {
  // The second name is the one that the beta had.
  const isNamed = isJsonObject(config?.value['format']);
  const format = isNamed ? config?.object('format') : body.optionalObject('output_format');
  if (!format) return undefined;
  if (format.value['type'] !== 'json_schema') throw format.error('type', 'must be json_schema.');
  return { type: 'jsonSchema', schema: format.object('schema').value };
}

function readReasoning(body: BodyObject, config: BodyObject | undefined): ReasoningRequest | undefined {
  const thinking = body.optionalObject('thinking');
  const effort = config && readEffort(config, 'effort');
  return thinking ? { ...effort, ...readThinking(thinking) } : effort;
}

function readThinking(thinking: BodyObject): ReasoningRequest {
  const { type } = thinking.value;
  if (type !== 'enabled' && type !== 'adaptive' && type !== 'disabled') {
    throw thinking.error('type', 'must be adaptive, enabled or disabled.');
  }
  return {
    thinking: type,
    ...defined({
      budgetTokens: type === 'enabled' ? thinking.optionalNumber('budget_tokens') : undefined,
      display: thinking.optionalText('display'),
    }),
  };
}

function readServiceTier(body: BodyObject): string | undefined {
  const tier = body.optionalText('service_tier');
  return tier === 'standard_only' ? 'default' : tier;
}

const TOOL_MEMBERS = new Set(['type', 'name', 'description', 'input_schema', 'strict', 'cache_control']);

/** A tool of a messages request. */
function readTool(tool: BodyObject): Tool {
  const type = tool.optionalText('type') ?? 'custom';
  if (type !== 'custom') return { kind: 'hosted', type, ...defined({ name: tool.optionalText('name') }) };
  tool.loseOthers(TOOL_MEMBERS, 'tools[]');
  const parameters = tool.optionalObject('input_schema')?.value;
  const strict = tool.optionalBoolean('strict');
  // OpenAI refuses a strict tool with optional members, which Anthropic takes.
  const isTaken = strict !== true || isStrictSchema(argumentsSchema(parameters));
  if (!isTaken) tool.lose('strictFunctions', 'strict');
  return {
    kind: 'function',
    name: tool.text('name'),
    ...defined({
      description: tool.optionalText('description'),
      parameters,
      strict: isTaken ? strict : undefined,
    }),
    ...readCacheControl(tool),
  };
}

function readToolChoice(choice: BodyObject, tools: readonly Tool[]): ToolChoice {
  const { type } = choice.value;
  switch (type) {
    case 'auto':
    case 'none':
      return { mode: type };
    case 'any':
      return { mode: 'required' };
    case 'tool': {
      const name = choice.text('name');
      const hosted = tools.find((tool) => tool.kind === 'hosted' && tool.name === name);
      return hosted?.kind === 'hosted' ? { mode: 'hosted', type: hosted.type } : { mode: 'tool', name };
    }
    default:
      throw choice.error('type', 'must be auto, any, none or tool.');
  }
}
