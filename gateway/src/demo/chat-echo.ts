import type { JsonObject } from '../wire/json.ts';
import type { CallPart, EchoAnswer } from './compose.ts';
import {
  declaredTool,
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
import { type EchoFormat, type EchoReading, type Frame, openAiUsage } from './echo-format.ts';
import { piecesOf } from './pieces.ts';

/** The echo in chat completions. */
export const chatEcho: EchoFormat = { read, whole, events };

const FINISH = { stop: 'stop', length: 'length', tool: 'tool_calls' } as const;

function read(body: JsonObject): EchoReading {
  const format = objectOr(body['response_format']);
  const schema =
    format['type'] === 'json_object' ? { type: 'object' } : objectOr(format['json_schema'])['schema'];
  const conversation: EchoConversation = {
    turns: objectsIn(body['messages']).map(readTurn),
    tools: objectsIn(body['tools']).map(readTool),
    toolChoice: readChoice(body['tool_choice']),
    isOneCallAtMost: body['parallel_tool_calls'] === false,
    schema,
    cap: numberOr(body['max_completion_tokens'] ?? body['max_tokens'], Number.POSITIVE_INFINITY),
  };
  return { conversations: [conversation], choices: numberOr(body['n'], 1) };
}

function readTurn({ role, content }: JsonObject): EchoTurn {
  const by = role === 'user' || role === 'tool' ? role : role === 'assistant' ? 'model' : 'other';
  return { by, text: textOf(content) };
}

function readTool(tool: JsonObject): EchoTool {
  const { type } = tool;
  return declaredTool({ ...objectOr(tool[stringOr(type, '')]), type });
}

function readChoice(choice: unknown): ToolChoice | undefined {
  if (choice === 'none' || choice === 'required') return choice;
  const { function: fn, custom } = objectOr(choice);
  const name = objectOr(fn ?? custom)['name'];
  return typeof name === 'string' ? { name } : undefined;
}

function head({ id, createdSeconds, model }: Frame): JsonObject {
  return { id: `chatcmpl-${id}`, created: createdSeconds, model };
}

function whole(answers: readonly EchoAnswer[], frame: Frame): JsonObject {
  return {
    ...head(frame),
    object: 'chat.completion',
    choices: answers.map(({ parts, finish }, index) => {
      const texts = parts.filter((part) => part.kind === 'text');
      const calls = parts.filter((part) => part.kind === 'call');
      const toolCalls = calls.map((call, position) =>
        toolCall(callId(frame, index, position), call, call.text),
      );
      return {
        index,
        message: {
          role: 'assistant',
          content: texts.length === 0 ? null : texts.map(({ text }) => text).join(''),
          refusal: null,
          ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
        },
        logprobs: null,
        finish_reason: FINISH[finish],
      };
    }),
    usage: openAiUsage(frame),
  };
}

function* events(answers: readonly EchoAnswer[], frame: Frame): Generator<string> {
  const event = (members: JsonObject) =>
    `data: ${JSON.stringify({ ...head(frame), object: 'chat.completion.chunk', ...members })}\n\n`;
  const chunk = (index: number, delta: JsonObject, finishReason: string | null = null) =>
    event({
      choices: [{ index, delta, logprobs: null, finish_reason: finishReason }],
      ...(frame.showsUsage && { usage: null }),
    });
  for (const [index, { parts, finish }] of answers.entries()) {
    yield chunk(index, { role: 'assistant', content: '' });
    let position = 0;
    for (const part of parts) {
      if (part.kind === 'text') {
        for (const content of piecesOf(part.text)) yield chunk(index, { content });
        continue;
      }
      const call = (members: JsonObject) => chunk(index, { tool_calls: [{ index: position, ...members }] });
      yield call(toolCall(callId(frame, index, position), part, ''));
      for (const piece of piecesOf(part.text)) yield call(input(part, piece));
      position += 1;
    }
    yield chunk(index, {}, FINISH[finish]);
  }
  if (frame.showsUsage) yield event({ choices: [], usage: openAiUsage(frame) });
  yield 'data: [DONE]\n\n';
}

function callId({ id }: Frame, choice: number, position: number): string {
  return `call_${id}_${choice}_${position}`;
}

function toolCall(id: string, call: CallPart, text: string): JsonObject {
  const { name, isCustom } = call.tool;
  if (isCustom) return { id, type: 'custom', custom: { name, input: text } };
  return { id, type: 'function', function: { name, arguments: text } };
}

function input({ tool }: CallPart, text: string): JsonObject {
  return tool.isCustom ? { custom: { input: text } } : { function: { arguments: text } };
}
