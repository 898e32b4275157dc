import type { GeneratedText } from '../generated-text.ts';
import { isJsonObject, type JsonObject } from '../json.ts';

/**
 * Notes what a model produced in a message (or, in a stream, in a piece of one): text, reasoning, a refusal, the
 * calls of tools, the words of audio. Returns whether there was any of it.
 */
export function noteGenerated(message: JsonObject, choice: number, generated: GeneratedText): boolean {
  let hasContent = false;
  const note = (voice: string, text: unknown) => {
    if (typeof text !== 'string' || text === '') return;
    generated.append(`${choice} ${voice}`, text);
    hasContent = true;
  };
  note('content', message['content']);
  // Two names for one thing; servers that send both send the same text.
  note('reasoning', message['reasoning_content'] ?? message['reasoning']);
  note('refusal', message['refusal']);
  if (isJsonObject(message['audio'])) note('audio', message['audio']['transcript']);
  const noteFunction = (voice: string, call: unknown) => {
    if (!isJsonObject(call)) return;
    note(`${voice} name`, call['name']);
    note(`${voice} arguments`, call['arguments']);
  };
  noteFunction('function', message['function_call']);
  if (Array.isArray(message['tool_calls'])) {
    message['tool_calls'].forEach((call: unknown, position) => {
      if (!isJsonObject(call)) return;
      const index = typeof call['index'] === 'number' ? call['index'] : position;
      noteFunction(`tool ${index}`, call['function']);
    });
  }
  return hasContent;
}
