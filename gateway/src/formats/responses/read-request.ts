import { isJsonObject, type JsonObject } from '../../wire/json.ts';
import { BodyError } from '../request-facts.ts';
import {
  defined,
  optionalBoolean,
  optionalList,
  optionalNumber,
  optionalObject,
  optionalText,
  requireOneOf,
  requireText,
} from '../translation/body-members.ts';
import type {
  Conversation,
  Instruction,
  OutputFormat,
  ReasoningRequest,
} from '../translation/conversation.ts';
import type { Feature } from '../translation/feature-table.ts';
import type { Losses } from '../translation/losses.ts';
import { effortOf } from '../translation/reasoning-effort.ts';
import { RESPONSES_MEMBERS } from './members.ts';
import { readInput } from './read-input.ts';
import { readToolChoice, readTools } from './read-tools.ts';

// Reads the body of `POST /v1/responses` into the neutral form.

const SEALED_REASONING = 'reasoning.encrypted_content';
const LOGPROBS = 'message.output_text.logprobs';

export function readRequest(body: JsonObject, losses: Losses): Conversation {
  const lose = (feature: Feature, path: string) => losses.lose(feature, path);
  RESPONSES_MEMBERS.lose(body, losses);
  if (optionalBoolean(body, 'background')) lose('background', 'background');
  if (optionalBoolean(body, 'store')) lose('store', 'store');
  const items = inputItems(body['input']);
  const { tools, names, hasToolSearch } = readTools(body, items, losses);
  const { instructions, turns } = readInput(items, ownInstructions(body), names, losses);
  const toolChoice = readToolChoice(body['tool_choice'], names);
  const text = readText(optionalObject(body, 'text'), losses);
  const reasoning = readReasoningRequest(optionalObject(body, 'reasoning'), losses);
  readInclude(body, losses);
  return {
    model: requireText(body['model'], 'model'),
    instructions,
    turns,
    tools,
    sampling: defined({
      temperature: optionalNumber(body, 'temperature'),
      topP: optionalNumber(body, 'top_p'),
    }),
    isStream: optionalBoolean(body, 'stream') ?? false,
    showsUsage: true,
    ...defined({
      namespaces: names.namespaces,
      hasToolSearch: hasToolSearch || undefined,
      toolChoice,
      parallelToolCalls: optionalBoolean(body, 'parallel_tool_calls'),
      outputCap: optionalNumber(body, 'max_output_tokens'),
      reasoning,
      userId: optionalText(body, 'safety_identifier') ?? optionalText(body, 'user'),
      metadata: optionalObject(body, 'metadata'),
      promptCacheKey: optionalText(body, 'prompt_cache_key'),
      promptCacheRetention: optionalText(body, 'prompt_cache_retention'),
      serviceTier: optionalText(body, 'service_tier'),
      ...text,
    }),
  };
}

function inputItems(input: unknown): readonly JsonObject[] {
  if (typeof input === 'string') return [{ role: 'user', content: input }];
  if (!Array.isArray(input) || input.length === 0 || !input.every(isJsonObject))
    throw new BodyError('input must be text or a list of at least one item.', 'input');
  return input;
}

function ownInstructions(body: JsonObject): Instruction[] {
  const text = optionalText(body, 'instructions') ?? '';
  return text === '' ? [] : [{ role: 'system', parts: [{ type: 'text', text }] }];
}

function readText(
  text: JsonObject | undefined,
  losses: Losses,
): { readonly outputFormat?: OutputFormat; readonly verbosity?: string } {
  if (!text) return {};
  discloseOthers(text, 'text', new Set(['format', 'verbosity']), losses);
  return defined({
    outputFormat: readFormat(optionalObject(text, 'format', 'text.format')),
    verbosity: optionalText(text, 'verbosity', 'text.verbosity'),
  });
}

function readFormat(format: JsonObject | undefined): OutputFormat | undefined {
  if (!format) return undefined;
  const type = requireOneOf(format['type'], ['text', 'json_object', 'json_schema'], 'text.format.type');
  if (type === 'text') return { type };
  if (type === 'json_object') return { type: 'jsonObject' };
  const schema = optionalObject(format, 'schema', 'text.format.schema');
  if (!schema) throw new BodyError('text.format.schema must be an object.', 'text.format.schema');
  return {
    type: 'jsonSchema',
    schema,
    ...defined({
      name: optionalText(format, 'name', 'text.format.name'),
      description: optionalText(format, 'description', 'text.format.description'),
      strict: optionalBoolean(format, 'strict', 'text.format.strict'),
    }),
  };
}

function readReasoningRequest(
  reasoning: JsonObject | undefined,
  losses: Losses,
): ReasoningRequest | undefined {
  if (!reasoning) return undefined;
  discloseOthers(reasoning, 'reasoning', new Set(['effort', 'summary', 'generate_summary']), losses);
  const stated = optionalText(reasoning, 'effort', 'reasoning.effort');
  const effort = stated === undefined ? undefined : effortOf(stated, 'reasoning.effort');
  const summary =
    optionalText(reasoning, 'summary', 'reasoning.summary') ??
    optionalText(reasoning, 'generate_summary', 'reasoning.generate_summary');
  const request: ReasoningRequest = defined({ effort, summary });
  return Object.keys(request).length === 0 ? undefined : request;
}

/** Reads what an answer shall have beside itself. Sealed reasoning is in every translated answer that has some. */
function readInclude(body: JsonObject, losses: Losses): void {
  const include = optionalList(body, 'include') ?? [];
  for (const [index, wanted] of include.entries()) {
    const name = requireText(wanted, `include[${index}]`);
    if (name !== SEALED_REASONING && name !== LOGPROBS) losses.lose('unknownMember', `include[${name}]`);
  }
  if (include.includes(LOGPROBS) || optionalNumber(body, 'top_logprobs')) losses.lose('logprobs');
}

function discloseOthers(value: JsonObject, path: string, known: ReadonlySet<string>, losses: Losses): void {
  for (const [name, member] of Object.entries(value)) {
    if (!known.has(name) && (member ?? null) !== null) losses.lose('unknownMember', `${path}.${name}`);
  }
}
