import { parseJson } from '../../wire/answer-json.ts';
import { isJsonObject } from '../../wire/json.ts';

const END_MARK = '[DONE]';

/**
 * The data of the events that stand in one: Gemini sends an error as a list of one, and some servers leave out the blank line between two
 * events. Undefined where the data is that of one event.
 */
export function eventsWithin(data: string): readonly string[] | undefined {
  if (data.startsWith('[{')) {
    const listed = parseJson(data);
    const isList = Array.isArray(listed) && listed.every(isJsonObject);
    return isList ? listed.map((event) => JSON.stringify(event)) : undefined;
  }
  if (!data.includes('\n')) return undefined;
  const lines = data.split('\n').filter((line) => line.trim() !== '');
  return lines.length > 1 && lines.every(isEvent) ? lines : undefined;
}

function isEvent(line: string): boolean {
  return line.trim() === END_MARK || isJsonObject(parseJson(line));
}
