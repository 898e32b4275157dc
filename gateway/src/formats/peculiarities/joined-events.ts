import { parseJson } from '../../wire/answer-json.ts';
import { isJsonObject } from '../../wire/json.ts';
import { errorInstead } from './error-message.ts';

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

const WITHOUT_DATA = /^(error:)?\s*(\{[\s\S]*\})\s*$/;

/**
 * The event for an error that came in no field that clients read: llama.cpp named the field `error`, and some servers write bare JSON.
 * Undefined for all else.
 */
export function eventOfError(text: string): string | undefined {
  const [, field, json = ''] = WITHOUT_DATA.exec(text) ?? [];
  const name = field === undefined ? undefined : 'error';
  if (json === '' || errorInstead(name, json, parseJson(json)) === undefined) return undefined;
  return `${name ? `event: ${name}\n` : ''}data: ${json.replaceAll(/[\r\n]+/g, ' ')}\n\n`;
}
