import type { JsonObject } from '../wire/json.ts';
import type { EchoAnswer } from './compose.ts';
import { type EchoConversation, numberOr } from './conversation.ts';
import { type EchoFormat, type EchoReading, type Frame, openAiUsage } from './echo-format.ts';
import { piecesOf } from './pieces.ts';
import { textsOf } from './texts.ts';

/** The echo in text completions. */
export const completionsEcho: EchoFormat = { read, whole, events };

function read(body: JsonObject): EchoReading {
  const conversations = textsOf(body['prompt']).map(
    (text): EchoConversation => ({
      turns: [{ by: 'user', text }],
      tools: [],
      toolChoice: 'none',
      isOneCallAtMost: true,
      schema: undefined,
      cap: numberOr(body['max_tokens'], Number.POSITIVE_INFINITY),
    }),
  );
  return { conversations, choices: numberOr(body['n'], 1) };
}

function head({ id, createdSeconds, model }: Frame): JsonObject {
  return { id: `cmpl-${id}`, object: 'text_completion', created: createdSeconds, model };
}

function choice(text: string, index: number, finish: EchoAnswer['finish'] | null): JsonObject {
  return { text, index, logprobs: null, finish_reason: finish };
}

function textOf({ parts }: EchoAnswer): string {
  return parts.map(({ text }) => text).join('');
}

function whole(answers: readonly EchoAnswer[], frame: Frame): JsonObject {
  const choices = answers.map((answer, index) => choice(textOf(answer), index, answer.finish));
  return { ...head(frame), choices, usage: openAiUsage(frame) };
}

function* events(answers: readonly EchoAnswer[], frame: Frame): Generator<string> {
  const event = (choices: readonly JsonObject[], usage: JsonObject | null) =>
    `data: ${JSON.stringify({ ...head(frame), choices, ...(frame.showsUsage && { usage }) })}\n\n`;
  for (const [index, answer] of answers.entries()) {
    for (const piece of piecesOf(textOf(answer))) yield event([choice(piece, index, null)], null);
    yield event([choice('', index, answer.finish)], null);
  }
  if (frame.showsUsage) yield event([], openAiUsage(frame));
  yield 'data: [DONE]\n\n';
}
