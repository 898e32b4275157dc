import type { AssistantPart, ToolResultPart, Turn, UserPart } from './conversation.ts';
import type { TranslationNotes } from './translator.ts';

/** Ids of a conversation that are kept for its answer: the latest. */
export const MAX_KEPT_IDS = 10_000;
/** Longer ids are made by providers that do not repeat them. */
const MAX_KEPT_LENGTH = 128;

/**
 * The ids of an answer's tool calls. Clients pair calls and results by id over the whole conversation, so an id that it has already, or
 * that the provider left out, is replaced by one that holds the request's.
 */
export class CallIds {
  readonly #taken: Set<string>;
  readonly #own: string;
  #count = 0;

  constructor({ requestId, callIds = [] }: Pick<TranslationNotes, 'requestId' | 'callIds'>) {
    this.#taken = new Set(callIds);
    this.#own = requestId.replace(/^req_/, '').replaceAll(/[^a-zA-Z0-9]/g, '');
  }

  /** The caller's id for a call; `id` is the provider's, empty where it gave none. */
  give(id: string): string {
    const place = this.#count++;
    const given = id.trim() === '' || this.#taken.has(id) ? `call_${this.#own}_${place}` : id;
    this.#taken.add(given);
    return given;
  }
}

/** The ids of the calls in a conversation, as far as its answer could repeat them. */
export function callIdsOf(turns: readonly Turn[]): readonly string[] {
  return [...new Set(idsIn(turns))].filter((id) => id.length <= MAX_KEPT_LENGTH).slice(-MAX_KEPT_IDS);
}

/**
 * The turns with each call under an id of its own, and each result under that of its call. Some providers use the id `call_0` in every
 * answer, and others refuse a conversation that repeats an id. The same conversation gets the same ids.
 */
export function withUniqueCalls(turns: readonly Turn[]): readonly Turn[] {
  const ids = idsIn(turns);
  const used = new Set(ids);
  if (used.size === ids.length) return turns;
  const seen = new Map<string, number>();
  // The new ids of calls without a result as yet, by the old one. The last one stays, for a second result.
  const waiting = new Map<string, string[]>();
  const nameOf = (id: string): string => {
    let count = (seen.get(id) ?? 0) + 1;
    let name = count === 1 ? id : `${id}_${count}`;
    while (count > 1 && used.has(name)) name = `${id}_${++count}`;
    seen.set(id, count);
    used.add(name);
    const names = waiting.get(id);
    if (names) names.push(name);
    else waiting.set(id, [name]);
    return name;
  };
  return turns.map((turn): Turn => {
    if (turn.role === 'assistant') return { ...turn, parts: renamedParts(turn.parts, waiting, nameOf) };
    if (turn.role !== 'user') return turn;
    return { ...turn, parts: turn.parts.map((part) => renamedResult(part, waiting)) };
  });
}

function idsIn(turns: readonly Turn[]): string[] {
  return turns.flatMap((turn) =>
    turn.role === 'assistant' ? turn.parts.flatMap((part) => (part.type === 'toolCall' ? part.id : [])) : [],
  );
}

function renamedParts(
  parts: readonly AssistantPart[],
  waiting: Map<string, string[]>,
  nameOf: (id: string) => string,
): AssistantPart[] {
  // A result after this turn is of its calls, not of one before them whose result never came.
  for (const part of parts) if (part.type === 'toolCall') waiting.delete(part.id);
  const named = parts.map((part) => (part.type === 'toolCall' ? { ...part, id: nameOf(part.id) } : part));
  // What a provider gave with a call goes back with it.
  return named.map((part) => {
    if (part.type !== 'reasoning' || part.seal?.kind !== 'extra') return part;
    const name = waiting.get(part.seal.id)?.[0];
    return name === undefined ? part : { ...part, seal: { ...part.seal, id: name } };
  });
}

function renamedResult(part: UserPart, waiting: ReadonlyMap<string, string[]>): UserPart {
  if (part.type !== 'toolResult') return part;
  const names = waiting.get(part.callId);
  const name = names && names.length > 1 ? names.shift() : names?.[0];
  return name === undefined ? part : ({ ...part, callId: name } satisfies ToolResultPart);
}
