import { parseExact } from '../wire/exact-json.ts';
import type { JsonObject } from '../wire/json.ts';
import type { EchoAnswer, EchoPart } from './compose.ts';
import {
  type EchoConversation,
  type EchoTool,
  type EchoTurn,
  numberOr,
  objectOr,
  objectsIn,
  stringOr,
  type ToolChoice,
  textOf,
} from './conversation.ts';
import type { EchoFormat, EchoReading, Frame } from './echo-format.ts';
import { piecesOf } from './pieces.ts';

/** The echo in Anthropic's messages. */
export const messagesEcho: EchoFormat = { read, whole, events };

const STOP_REASON = { stop: 'end_turn', length: 'max_tokens', tool: 'tool_use' } as const;

function read(body: JsonObject): EchoReading {
  const { system } = body;
  const instructed: EchoTurn[] = system === undefined ? [] : [{ by: 'other', text: textOf(system) }];
  const choice = objectOr(body['tool_choice']);
  const conversation: EchoConversation = {
    turns: [...instructed, ...objectsIn(body['messages']).flatMap(readMessage)],
    tools: objectsIn(body['tools']).map(readTool),
    toolChoice: readChoice(choice),
    isOneCallAtMost: choice['disable_parallel_tool_use'] === true,
    schema: objectOr(objectOr(body['output_config'])['format'] ?? body['output_format'])['schema'],
    cap: numberOr(body['max_tokens'], Number.POSITIVE_INFINITY),
  };
  return { conversations: [conversation], choices: 1 };
}

/** Results of tools are turns of their own; what a client adds beside them is none of the user's. */
function readMessage({ role, content }: JsonObject): readonly EchoTurn[] {
  const results = objectsIn(content).filter(({ type }) => type === 'tool_result');
  if (results.length > 0) return results.map((result) => ({ by: 'tool', text: textOf(result['content']) }));
  return [{ by: role === 'user' ? 'user' : 'other', text: textOf(content) }];
}

function readTool({ name, description, input_schema: schema }: JsonObject): EchoTool {
  return { name: stringOr(name, ''), isCustom: false, description: stringOr(description, ''), schema };
}

function readChoice({ type, name }: JsonObject): ToolChoice | undefined {
  if (type === 'none') return 'none';
  if (type === 'any') return 'required';
  return type === 'tool' ? { name: stringOr(name, '') } : undefined;
}

function messageOf(frame: Frame, members: JsonObject): JsonObject {
  return {
    id: `msg_${frame.id}`,
    type: 'message',
    role: 'assistant',
    model: frame.model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    ...members,
  };
}

function usageOf({ promptTokens }: Frame, outputTokens: number): JsonObject {
  return {
    input_tokens: promptTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: outputTokens,
  };
}

function whole([answer]: readonly EchoAnswer[], frame: Frame): JsonObject {
  const { parts = [], finish = 'stop' } = answer ?? {};
  return messageOf(frame, {
    content: parts.map((part, index) => {
      const { text } = part;
      if (part.kind === 'text') return { type: 'text', text };
      // The arguments may be cut off.
      return { ...blockOf(part, frame, index), input: parseExact(text) ?? {} };
    }),
    stop_reason: STOP_REASON[finish],
    usage: usageOf(frame, frame.completionTokens),
  });
}

function* events([answer]: readonly EchoAnswer[], frame: Frame): Generator<string> {
  const event = (type: string, members: JsonObject = {}) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
  const { parts = [], finish = 'stop' } = answer ?? {};
  yield event('message_start', { message: messageOf(frame, { usage: usageOf(frame, 0) }) });
  for (const [index, part] of parts.entries()) {
    yield event('content_block_start', { index, content_block: blockOf(part, frame, index) });
    for (const piece of piecesOf(part.text)) {
      const delta =
        part.kind === 'text'
          ? { type: 'text_delta', text: piece }
          : { type: 'input_json_delta', partial_json: piece };
      yield event('content_block_delta', { index, delta });
    }
    yield event('content_block_stop', { index });
  }
  yield event('message_delta', {
    delta: { stop_reason: STOP_REASON[finish], stop_sequence: null },
    usage: usageOf(frame, frame.completionTokens),
  });
  yield event('message_stop');
}

/** A block as it begins. */
function blockOf(part: EchoPart, { id }: Frame, index: number): JsonObject {
  if (part.kind === 'text') return { type: 'text', text: '' };
  return { type: 'tool_use', id: `toolu_${id}_${index}`, name: part.tool.name, input: {} };
}
