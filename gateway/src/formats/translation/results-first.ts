import type { ToolResultPart, Turn, UserPart } from './conversation.ts';

/** The results of one turn's calls, by the call's id, in the order of the calls. */
type Results = Map<string, ToolResultPart | undefined>;

/** The turn after a turn's calls. */
interface ResultsTurn {
  readonly role: 'results';
  readonly results: Results;
  /** Words of the user beside the results. */
  rest: readonly UserPart[];
}

/**
 * The turns with the results of tools right after the calls, one for each call. Coding agents put instructions between the two, a person
 * may speak while a tool runs, and an agent may report a call twice; chat and messages providers refuse all of it. What stood between
 * follows the results. A result of no call stays where it is.
 */
export function resultsFirst(turns: readonly Turn[]): readonly Turn[] {
  const open = new Map<string, Results>();
  const ordered: (Turn | ResultsTurn)[] = [];
  let awaiting: ResultsTurn | undefined;
  for (const turn of turns) {
    if (turn.role === 'assistant') {
      ordered.push(turn);
      const calls = turn.parts.flatMap((part) => (part.type === 'toolCall' ? part.id : []));
      const results: Results = new Map(calls.map((id) => [id, undefined]));
      for (const id of calls) open.set(id, results);
      awaiting = calls.length > 0 ? { role: 'results', results, rest: [] } : undefined;
      if (awaiting) ordered.push(awaiting);
      continue;
    }
    if (turn.role !== 'user') {
      ordered.push(turn);
      continue;
    }
    const rest = turn.parts.filter((part) => part.type !== 'toolResult' || !take(part, open));
    const hasAnswered = rest.length < turn.parts.length;
    // The user's words beside the results stay in their turn, if nothing else was said before.
    if (hasAnswered && awaiting && ordered.at(-1) === awaiting && awaiting.rest.length === 0)
      awaiting.rest = rest;
    else if (rest.length > 0 || turn.parts.length === 0) ordered.push({ role: 'user', parts: rest });
  }
  return ordered.flatMap((turn): Turn[] => {
    if (turn.role !== 'results') return [turn];
    const parts: UserPart[] = [...turn.results.values()].filter((part) => part !== undefined);
    parts.push(...turn.rest);
    return parts.length === 0 ? [] : [{ role: 'user', parts }];
  });
}

/** Puts a result to its call; false where there is no such call before it. A second result continues the first. */
function take(result: ToolResultPart, open: ReadonlyMap<string, Results>): boolean {
  const results = open.get(result.callId);
  if (!results) return false;
  const before = results.get(result.callId);
  results.set(
    result.callId,
    before ? { ...before, ...result, parts: [...before.parts, ...result.parts] } : result,
  );
  return true;
}
