import { defined, isJsonObject, type JsonObject } from '../../wire/json.ts';
import { BodyObject } from '../translation/body-object.ts';
import { customFormat } from '../translation/callers-tools.ts';
import type { Conversation, OutputFormat, Sampling, Tool, ToolChoice } from '../translation/conversation.ts';
import type { Losses } from '../translation/losses.ts';
import { readCacheControl, readUser } from '../translation/part-members.ts';
import { readEffort } from '../translation/reasoning.ts';
import { CHAT_MEMBERS } from './members.ts';
import { readMessages } from './read-messages.ts';

/** Reads the body of `POST /v1/chat/completions` into the neutral form. */
export function readRequest(value: JsonObject, losses: Losses): Conversation {
  const body = new BodyObject(value, '', losses);
  CHAT_MEMBERS.lose(value, losses);
  refuseAudio(body);
  const { instructions, turns } = readMessages(body);
  const tools = Array.from(body.optionalObjects('tools'), readTool);
  const caps = ['max_tokens', 'max_completion_tokens'].flatMap((name) => body.optionalNumber(name) ?? []);
  const choices = body.optionalNumber('n');
  return {
    model: body.text('model'),
    instructions,
    turns,
    tools,
    ...defined({
      toolChoice: readToolChoice(body),
      parallelToolCalls: body.optionalBoolean('parallel_tool_calls'),
      outputCap: caps.length === 0 ? undefined : Math.min(...caps),
      choices: choices === 1 ? undefined : choices,
      stop: readStop(body),
      logprobs: readLogprobs(body),
      outputFormat: readOutputFormat(body.optionalObject('response_format')),
      reasoning: readEffort(body, 'reasoning_effort'),
      verbosity: body.optionalText('verbosity'),
      userId: readUser(body),
      metadata: body.optionalObject('metadata')?.value,
      store: body.optionalBoolean('store'),
      promptCacheKey: body.optionalText('prompt_cache_key'),
      promptCacheRetention: body.optionalText('prompt_cache_retention'),
      serviceTier: body.optionalText('service_tier'),
    }),
    sampling: readSampling(body),
    isStream: body.optionalBoolean('stream') ?? false,
    showsUsage: body.optionalObject('stream_options')?.value['include_usage'] === true,
    ...readCacheControl(body),
  };
}

function refuseAudio(body: BodyObject): void {
  const modalities = body.optionalTexts('modalities') ?? [];
  if (modalities.some((modality) => modality !== 'text')) body.lose('audioOutput', 'modalities');
  else if (body.optionalObject('audio')) body.lose('audioOutput', 'audio');
}

function readSampling(body: BodyObject): Sampling {
  // A penalty of 0 and a bias of nothing are what every provider does by itself.
  const nonZero = (name: string) => body.optionalNumber(name) || undefined;
  const logitBias = body.optionalObject('logit_bias')?.value;
  // -1 and 0 are no bound for servers such as vLLM; Anthropic refuses the first.
  const topK = body.optionalNumber('top_k') ?? 0;
  return defined({
    temperature: body.optionalNumber('temperature'),
    topP: body.optionalNumber('top_p'),
    topK: topK > 0 ? topK : undefined,
    frequencyPenalty: nonZero('frequency_penalty'),
    presencePenalty: nonZero('presence_penalty'),
    seed: body.optionalNumber('seed'),
    logitBias: logitBias && Object.keys(logitBias).length > 0 ? logitBias : undefined,
  });
}

function readStop(body: BodyObject): readonly string[] | undefined {
  const { stop: value } = body.value;
  const stop = typeof value === 'string' ? [value] : body.optionalTexts('stop');
  return stop && stop.length > 0 ? stop : undefined;
}

function readLogprobs(body: BodyObject): Conversation['logprobs'] {
  if (body.optionalBoolean('logprobs') !== true) return undefined;
  return defined({ top: body.optionalNumber('top_logprobs') });
}

function readOutputFormat(format: BodyObject | undefined): OutputFormat | undefined {
  if (!format) return undefined;
  switch (format.value['type']) {
    case 'text':
      return { type: 'text' };
    case 'json_object':
      return { type: 'jsonObject' };
    case 'json_schema': {
      const declared = format.optionalObject('json_schema');
      return {
        type: 'jsonSchema',
        schema: declared?.optionalObject('schema')?.value ?? {},
        ...defined({
          name: declared?.optionalText('name'),
          description: declared?.optionalText('description'),
          strict: declared?.optionalBoolean('strict'),
        }),
      };
    }
    default:
      throw format.error('type', 'must be text, json_object or json_schema.');
  }
}

/** The members of a tool, or of a choice: in an object by the name of its type, or beside it as in responses. Cursor mixes the two. */
function declaredIn(holder: BodyObject, type: 'function' | 'custom'): BodyObject {
  return holder.has(type) ? holder.object(type) : holder;
}

const TOOL_MEMBERS = new Set([
  ...['type', 'function', 'custom', 'name', 'description', 'parameters', 'input_schema', 'strict', 'format'],
  'cache_control',
]);

/** A tool of a chat request. */
function readTool(tool: BodyObject): Tool {
  const { type, input_schema: schema } = tool.value;
  // Tools of Anthropic, as Cursor sends them.
  switch (type ?? (isJsonObject(schema) ? 'function' : type)) {
    case 'function': {
      const declared = declaredIn(tool, 'function');
      for (const holder of new Set([tool, declared])) holder.loseOthers(TOOL_MEMBERS, 'tools[]');
      return {
        kind: 'function',
        name: declared.text('name'),
        ...defined({
          description: declared.optionalText('description'),
          parameters: declared.optionalObject(schema ? 'input_schema' : 'parameters')?.value,
          strict: declared.optionalBoolean('strict'),
        }),
        ...readCacheControl(declared),
        ...readCacheControl(tool),
      };
    }
    case 'custom': {
      const declared = declaredIn(tool, 'custom');
      declared.loseOthers(TOOL_MEMBERS, 'tools[]');
      return {
        kind: 'custom',
        name: declared.text('name'),
        ...defined({
          description: declared.optionalText('description'),
          format: customFormat(declared.optionalObject('format')?.value),
        }),
      };
    }
    default:
      return { kind: 'hosted', type: tool.text('type') };
  }
}

/** The words for a choice: OpenAI's, and one of Mistral and Anthropic. */
const MODES = new Map<unknown, 'auto' | 'none' | 'required'>([
  ['auto', 'auto'],
  ['none', 'none'],
  ['required', 'required'],
  ['any', 'required'],
]);

/** The tool choice of a chat request. */
function readToolChoice(body: BodyObject): ToolChoice | undefined {
  if (!body.has('tool_choice')) return undefined;
  const value = body.value['tool_choice'];
  const mode = MODES.get(isJsonObject(value) ? value['type'] : value);
  if (mode) return { mode };
  if (typeof value === 'string') {
    throw body.error('tool_choice', 'must be auto, none, required or an object.');
  }
  const choice = body.object('tool_choice');
  const type = choice.text('type');
  switch (type) {
    case 'function':
    case 'custom':
      return { mode: 'tool', name: declaredIn(choice, type).text('name') };
    case 'tool':
      return { mode: 'tool', name: choice.text('name') };
    case 'allowed_tools':
      return readAllowed(choice.object('allowed_tools'));
    default:
      return { mode: 'hosted', type };
  }
}

function readAllowed(allowed: BodyObject): ToolChoice {
  const names = Array.from(allowed.objects('tools'), ({ value, path, losses }) =>
    new BodyObject(value['function'] ?? value['custom'], path, losses).text('name'),
  );
  return { mode: 'allowed', names, isRequired: allowed.value['mode'] === 'required' };
}
