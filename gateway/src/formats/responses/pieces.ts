import { isJsonObject, type JsonObject } from '../../wire/json.ts';

/** Something that a model produced, in an item of a response's output. */
export interface ItemPiece {
  readonly text: string;
  readonly isReasoning: boolean;
  /** Sealed reasoning is not: its length says nothing of the tokens. */
  readonly isCounted: boolean;
}

// The members of items that hold what a model wrote: messages, reasoning, the calls of tools.
const TEXT_MEMBERS = ['name', 'arguments', 'input', 'code'] as const;
const PART_MEMBERS = ['text', 'refusal', 'transcript'] as const;

/** The pieces that a model produced in an item: text, reasoning, a refusal, the calls of tools. Without what is empty. */
export function piecesOfItem(item: unknown): ItemPiece[] {
  if (!isJsonObject(item)) return [];
  const isReasoning = item['type'] === 'reasoning';
  const pieces: ItemPiece[] = [];
  const add = (text: unknown, isCounted = true) => {
    if (typeof text === 'string' && text !== '') pieces.push({ text, isReasoning, isCounted });
  };
  for (const name of TEXT_MEMBERS) add(item[name]);
  for (const list of [item['content'], item['summary']]) {
    for (const part of Array.isArray(list) ? list : []) {
      if (isJsonObject(part)) for (const name of PART_MEMBERS) add(part[name]);
    }
  }
  // What a shell, a search or a patch is asked to do.
  for (const name of ['action', 'operation']) if (isJsonObject(item[name])) add(JSON.stringify(item[name]));
  add(item['encrypted_content'], false);
  return pieces;
}

/** The items that are priced by the call. */
export class HostedCalls {
  readonly #counts: Record<string, number> = {};

  /** The calls so far; undefined where there were none. */
  get counts(): Readonly<Record<string, number>> | undefined {
    return Object.keys(this.#counts).length === 0 ? undefined : { ...this.#counts };
  }

  add(item: unknown): void {
    const name = isJsonObject(item) ? pricedCall(item) : undefined;
    if (name !== undefined) this.#counts[name] = (this.#counts[name] ?? 0) + 1;
  }
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
