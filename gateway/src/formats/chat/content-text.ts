import { isJsonObject } from '../../wire/json.ts';

/** The text of a content, or of a piece of one: a string, or a list of parts, of which those of text are read. */
export function textOfContent(content: unknown): string {
  if (typeof content === 'string') return content;
  return Array.isArray(content) ? content.map(textIn).join('') : '';
}

function textIn(part: unknown): string {
  return isJsonObject(part) && part['type'] === 'text' && typeof part['text'] === 'string'
    ? part['text']
    : '';
}
