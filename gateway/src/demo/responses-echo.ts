import type { JsonObject } from '../wire/json.ts';
import type { CallPart, EchoAnswer, EchoPart, TextPart } from './compose.ts';
import {
  type EchoConversation,
  type EchoTool,
  type EchoTurn,
  functionTool,
  numberOr,
  objectOr,
  objectsIn,
  stringOr,
  type ToolChoice,
  textOf,
} from './conversation.ts';
import type { EchoFormat, EchoReading, Frame } from './echo-format.ts';
import { piecesOf } from './pieces.ts';

/** The echo in the Responses API. */
export const responsesEcho: EchoFormat = { read, whole, events };

function read(body: JsonObject): EchoReading {
  const { input, instructions } = body;
  const format = objectOr(objectOr(body['text'])['format']);
  const instructed: EchoTurn[] =
    typeof instructions === 'string' ? [{ by: 'other', text: instructions }] : [];
  const said: EchoTurn[] =
    typeof input === 'string' ? [{ by: 'user', text: input }] : readItems(objectsIn(input));
  const conversation: EchoConversation = {
    turns: [...instructed, ...said],
    tools: [body, ...objectsIn(input)].flatMap(({ tools }) => objectsIn(tools)).flatMap(readTool),
    toolChoice: readChoice(body['tool_choice']),
    isOneCallAtMost: body['parallel_tool_calls'] === false,
    schema: format['type'] === 'json_object' ? { type: 'object' } : format['schema'],
    cap: numberOr(body['max_output_tokens'], Number.POSITIVE_INFINITY),
  };
  return { conversations: [conversation], choices: 1 };
}

/** The items that a model said in one answer are one turn, however many they are. */
function readItems(items: readonly JsonObject[]): EchoTurn[] {
  const turns: EchoTurn[] = [];
  let isModels = false;
  for (const item of items) {
    const wasModels = isModels;
    isModels = item['role'] === 'assistant' || MODELS_ITEMS.has(item['type']);
    if (!isModels || !wasModels) turns.push(readItem(item));
  }
  return turns;
}

const MODELS_ITEMS: ReadonlySet<unknown> = new Set(['reasoning', 'function_call', 'custom_tool_call']);

function readItem({ type = 'message', role, content, output }: JsonObject): EchoTurn {
  if (stringOr(type, '').endsWith('_output')) return { by: 'tool', text: textOf(output) };
  return { by: type === 'message' && role === 'user' ? 'user' : 'other', text: textOf(content) };
}

function readTool(tool: JsonObject): readonly EchoTool[] {
  const { type, name } = tool;
  if (type !== 'namespace') return [functionTool(tool)];
  return objectsIn(tool['tools']).map((inner) => functionTool(inner, stringOr(name, '')));
}

function readChoice(choice: unknown): ToolChoice | undefined {
  if (choice === 'none' || choice === 'required') return choice;
  const { name } = objectOr(choice);
  return typeof name === 'string' ? { name } : undefined;
}

function responseOf(frame: Frame, status: string, members: JsonObject = {}): JsonObject {
  return {
    id: `resp_${frame.id}`,
    object: 'response',
    created_at: frame.createdSeconds,
    status,
    background: false,
    error: null,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: null,
    model: frame.model,
    output: [],
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: { effort: null, summary: null },
    store: false,
    temperature: 1,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
    truncation: 'disabled',
    usage: null,
    metadata: {},
    ...members,
  };
}

/** The response at its end. */
function ended({ parts, finish }: EchoAnswer, frame: Frame): JsonObject {
  const { promptTokens, completionTokens } = frame;
  const isWhole = finish !== 'length';
  return responseOf(frame, isWhole ? 'completed' : 'incomplete', {
    incomplete_details: isWhole ? null : { reason: 'max_output_tokens' },
    output: parts.map((part, index) => itemOf(part, frame, index, 'completed')),
    usage: {
      input_tokens: promptTokens,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: completionTokens,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: promptTokens + completionTokens,
    },
  });
}

function whole([answer]: readonly EchoAnswer[], frame: Frame): JsonObject {
  return answer ? ended(answer, frame) : responseOf(frame, 'completed');
}

function* events([answer]: readonly EchoAnswer[], frame: Frame): Generator<string> {
  if (!answer) return;
  let sequence = 0;
  const event = (type: string, members: JsonObject) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence++, ...members })}\n\n`;
  const response = responseOf(frame, 'in_progress');
  yield event('response.created', { response });
  yield event('response.in_progress', { response });
  for (const [index, part] of answer.parts.entries()) {
    const place = { item_id: itemId(part, frame, index), output_index: index };
    const item = (status: Status) => ({ output_index: index, item: itemOf(part, frame, index, status) });
    yield event('response.output_item.added', item('in_progress'));
    if (part.kind === 'text') yield* textEvents(part, place, event);
    else yield* callEvents(part, place, event);
    yield event('response.output_item.done', item('completed'));
  }
  const last = answer.finish === 'length' ? 'response.incomplete' : 'response.completed';
  yield event(last, { response: ended(answer, frame) });
}

type Event = (type: string, members: JsonObject) => string;

function* textEvents({ text }: TextPart, item: JsonObject, event: Event): Generator<string> {
  const place = { ...item, content_index: 0 };
  yield event('response.content_part.added', { ...place, part: contentOf('') });
  for (const delta of piecesOf(text))
    yield event('response.output_text.delta', { ...place, delta, logprobs: [] });
  yield event('response.output_text.done', { ...place, text, logprobs: [] });
  yield event('response.content_part.done', { ...place, part: contentOf(text) });
}

function* callEvents({ tool, text }: CallPart, place: JsonObject, event: Event): Generator<string> {
  const type = tool.isCustom ? 'response.custom_tool_call_input' : 'response.function_call_arguments';
  for (const delta of piecesOf(text)) yield event(`${type}.delta`, { ...place, delta });
  yield event(`${type}.done`, { ...place, ...(tool.isCustom ? { input: text } : { arguments: text }) });
}

type Status = 'in_progress' | 'completed';

function itemId(part: EchoPart, { id }: Frame, index: number): string {
  const prefix = part.kind === 'text' ? 'msg' : part.tool.isCustom ? 'ctc' : 'fc';
  return `${prefix}_${id}_${index}`;
}

/** An item of the output: empty while it is in progress. */
function itemOf(part: EchoPart, frame: Frame, index: number, status: Status): JsonObject {
  const id = itemId(part, frame, index);
  const text = status === 'completed' ? part.text : '';
  if (part.kind === 'text') {
    const content = status === 'completed' ? [contentOf(text)] : [];
    return { id, type: 'message', status, role: 'assistant', content };
  }
  const { name, isCustom, namespace } = part.tool;
  const call = { call_id: `call_${frame.id}_${index}`, name, ...(namespace !== undefined && { namespace }) };
  if (isCustom) return { id, type: 'custom_tool_call', status, ...call, input: text };
  return { id, type: 'function_call', status, ...call, arguments: text };
}

function contentOf(text: string): JsonObject {
  return { type: 'output_text', annotations: [], logprobs: [], text };
}
