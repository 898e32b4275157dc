import { isJsonObject, type JsonObject } from '../../wire/json.ts';

// A chat completion, or a text completion, that came whole, as the events of a stream: for a caller that asked for one.

/** The events of a chat completion. A message is the delta of one chunk, its finish another. */
export function chatEvents(answer: JsonObject): string {
  return eventsOf(answer, 'chat.completion.chunk', ({ message, finish_reason: finish, ...others }, index) => [
    { index, ...others, delta: isJsonObject(message) ? deltaOf(message) : {}, finish_reason: null },
    { index, delta: {}, finish_reason: finish ?? null },
  ]);
}

/** The events of a text completion, whose chunks are as its answer is. */
export function completionEvents(answer: JsonObject): string {
  return eventsOf(answer, 'text_completion', (choice, index) => [{ index, ...choice }]);
}

function eventsOf(
  { choices, usage, ...members }: JsonObject,
  object: string,
  chunksOf: (choice: JsonObject, index: number) => readonly JsonObject[],
): string {
  const head = { ...members, object };
  const listed: readonly unknown[] = Array.isArray(choices) ? choices : [];
  const chunks = listed
    .filter(isJsonObject)
    .flatMap(chunksOf)
    .map((choice) => ({ ...head, choices: [choice] }));
  const last = isJsonObject(usage) ? [{ ...head, choices: [], usage }] : [];
  return [...chunks, ...last, '[DONE]']
    .map((data) => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`)
    .join('');
}

function deltaOf(message: JsonObject): JsonObject {
  const { tool_calls: calls } = message;
  if (!Array.isArray(calls)) return message;
  return {
    ...message,
    tool_calls: calls.map((call: unknown, index) => (isJsonObject(call) ? { ...call, index } : call)),
  };
}
