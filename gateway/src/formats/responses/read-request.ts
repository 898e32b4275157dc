import { defined, isJsonObject, type JsonObject } from '../../wire/json.ts';
import { BodyObject } from '../translation/body-object.ts';
import type {
  Conversation,
  Instruction,
  OutputFormat,
  ReasoningRequest,
} from '../translation/conversation.ts';
import type { Losses } from '../translation/losses.ts';
import { readUser } from '../translation/part-members.ts';
import { readEffort } from '../translation/reasoning.ts';
import { RESPONSES_MEMBERS } from './members.ts';
import { readInput } from './read-input.ts';
import { readToolChoice, readTools } from './read-tools.ts';

const SEALED_REASONING = 'reasoning.encrypted_content';
const LOGPROBS = 'message.output_text.logprobs';
const TEXT_MEMBERS = new Set(['format', 'verbosity']);
const REASONING_MEMBERS = new Set(['effort', 'summary', 'generate_summary']);

/** Reads the body of `POST /v1/responses` into the neutral form. */
export function readRequest(value: JsonObject, losses: Losses): Conversation {
  const body = new BodyObject(value, '', losses);
  RESPONSES_MEMBERS.lose(value, losses);
  if (body.optionalBoolean('background')) body.lose('background', 'background');
  if (body.optionalBoolean('store')) body.lose('store', 'store');
  const items = itemsOf(body);
  const { tools, names, hasToolSearch } = readTools(body, items);
  const { instructions, turns } = readInput(items, ownInstructions(body), names);
  const toolChoice = readToolChoice(body, names);
  const text = readText(body.optionalObject('text'));
  const reasoning = readReasoning(body.optionalObject('reasoning'));
  readInclude(body);
  return {
    model: body.text('model'),
    instructions,
    turns,
    tools,
    sampling: defined({
      temperature: body.optionalNumber('temperature'),
      topP: body.optionalNumber('top_p'),
    }),
    isStream: body.optionalBoolean('stream') ?? false,
    showsUsage: true,
    ...defined({
      namespaces: names.namespaces,
      hasToolSearch: hasToolSearch || undefined,
      toolChoice,
      parallelToolCalls: body.optionalBoolean('parallel_tool_calls'),
      outputCap: body.optionalNumber('max_output_tokens'),
      reasoning,
      userId: readUser(body),
      metadata: body.optionalObject('metadata')?.value,
      promptCacheKey: body.optionalText('prompt_cache_key'),
      promptCacheRetention: body.optionalText('prompt_cache_retention'),
      serviceTier: body.optionalText('service_tier'),
      ...text,
    }),
  };
}

function itemsOf(body: BodyObject): readonly BodyObject[] {
  const { input } = body.value;
  const items: unknown = typeof input === 'string' ? [{ role: 'user', content: input }] : input;
  if (!Array.isArray(items) || items.length === 0 || !items.every(isJsonObject))
    throw body.error('input', 'must be text or a list of at least one item.');
  return items.map((item, index) => new BodyObject(item, `input[${index}]`, body.losses));
}

function ownInstructions(body: BodyObject): Instruction[] {
  const text = body.optionalText('instructions') ?? '';
  return text === '' ? [] : [{ role: 'system', parts: [{ type: 'text', text }] }];
}

function readText(text: BodyObject | undefined): Pick<Conversation, 'outputFormat' | 'verbosity'> {
  if (!text) return {};
  text.loseOthers(TEXT_MEMBERS, 'text');
  return defined({
    outputFormat: readFormat(text.optionalObject('format')),
    verbosity: text.optionalText('verbosity'),
  });
}

function readFormat(format: BodyObject | undefined): OutputFormat | undefined {
  if (!format) return undefined;
  const type = format.oneOf('type', ['text', 'json_object', 'json_schema']);
  if (type === 'text') return { type };
  if (type === 'json_object') return { type: 'jsonObject' };
  return {
    type: 'jsonSchema',
    schema: format.object('schema').value,
    ...defined({
      name: format.optionalText('name'),
      description: format.optionalText('description'),
      strict: format.optionalBoolean('strict'),
    }),
  };
}

function readReasoning(reasoning: BodyObject | undefined): ReasoningRequest | undefined {
  if (!reasoning) return undefined;
  reasoning.loseOthers(REASONING_MEMBERS, 'reasoning');
  const effort = readEffort(reasoning, 'effort');
  const summary = reasoning.optionalText('summary') ?? reasoning.optionalText('generate_summary');
  return summary === undefined ? effort : { ...effort, summary };
}

/** Reads what an answer shall have beside itself. Sealed reasoning is in every translated answer that has some. */
function readInclude(body: BodyObject): void {
  const include = body.optionalTexts('include') ?? [];
  for (const name of include) {
    if (name !== SEALED_REASONING && name !== LOGPROBS) body.losses.lose('unknownMember', `include[${name}]`);
  }
  if (include.includes(LOGPROBS) || body.optionalNumber('top_logprobs')) body.losses.lose('logprobs');
}
