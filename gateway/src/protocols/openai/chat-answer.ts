import { GeneratedText } from '../generated-text.ts';
import { isJsonObject } from '../json.ts';
import type { AnswerReading } from '../protocol.ts';
import { noteGenerated } from './chat-message.ts';
import { readErrorMessage, readUsage } from './usage.ts';

/** Reads a chat completion that came whole. */
export function readChatAnswer(body: Buffer): AnswerReading | undefined {
  const answer = parsed(body.toString());
  if (!isJsonObject(answer)) return undefined;
  const generated = new GeneratedText();
  const choices: readonly unknown[] = Array.isArray(answer['choices']) ? answer['choices'] : [];
  choices.forEach((choice, position) => {
    if (isJsonObject(choice) && isJsonObject(choice['message'])) {
      noteGenerated(choice['message'], position, generated);
    }
  });
  return {
    usage: readUsage(answer['usage']),
    generated,
    upstreamError: 'error' in answer ? (readErrorMessage(answer) ?? null) : null,
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
