import { isJsonObject, type JsonObject, textOf } from '../../wire/json.ts';
import type { AnswerTally } from '../answer-tally.ts';
import { argumentsText } from '../translation/tool-input.ts';

// The members of items that hold what a model wrote: messages, reasoning, the calls of tools.
const TEXT_MEMBERS = ['name', 'arguments', 'input', 'code', 'content'] as const;
const PART_MEMBERS = ['text', 'refusal', 'transcript'] as const;
/** The members that say what a shell, a search or a patch is asked to do. */
const ASKED_MEMBERS = ['action', 'operation'] as const;

/**
 * Takes note of what a model produced in an item: text, reasoning, a refusal, the calls of tools. What has been heard already, its name or
 * the pieces of its texts, is not counted again.
 */
export function hearItem(
  tally: AnswerTally,
  item: unknown,
  voice: string,
  heard: { readonly hasName: boolean; readonly hasPieces: boolean } = { hasName: false, hasPieces: false },
): void {
  if (!isJsonObject(item)) return;
  const isReasoning = item['type'] === 'reasoning';
  tally.hasReasoning ||= isReasoning;
  const hear = (text: unknown, isCounted: boolean) => {
    if (typeof text === 'string' && text !== '') tally.hear(voice, text, { isReasoning, isCounted });
  };
  for (const name of TEXT_MEMBERS) hear(item[name], name === 'name' ? !heard.hasName : !heard.hasPieces);
  for (const list of [item['content'], item['summary']]) {
    for (const part of Array.isArray(list) ? list : []) {
      if (isJsonObject(part)) for (const name of PART_MEMBERS) hear(part[name], !heard.hasPieces);
    }
  }
  for (const name of ASKED_MEMBERS) {
    if (isJsonObject(item[name])) hear(JSON.stringify(item[name]), !heard.hasPieces);
  }
  // Sealed: its length says nothing of the tokens.
  hear(item['encrypted_content'], false);
}

/** A text that an event says whole at its end: of a part, or of the arguments of a call. */
export function wholeText({ text, refusal, arguments: written, input }: JsonObject): string {
  return textOf(text) || textOf(refusal) || argumentsText(written) || textOf(input);
}

/** The items that are priced by the call, by name; undefined where there are none. */
export function hostedCalls(items: readonly unknown[]): Readonly<Record<string, number>> | undefined {
  const counts: Record<string, number> = {};
  for (const item of items) {
    const name = isJsonObject(item) ? pricedCall(item) : undefined;
    if (name !== undefined) counts[name] = (counts[name] ?? 0) + 1;
  }
  return Object.keys(counts).length === 0 ? undefined : counts;
}

function pricedCall(item: JsonObject): string | undefined {
  switch (item['type']) {
    case 'web_search_call': {
      // Opening a page that was found, and looking for a word in it, are part of the search.
      const action = isJsonObject(item['action']) ? item['action']['type'] : undefined;
      return action === undefined || action === 'search' ? 'web_search' : undefined;
    }
    case 'file_search_call':
      return 'file_search';
    default:
      return undefined;
  }
}
