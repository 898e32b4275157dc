import type {
  AssistantPart,
  Conversation,
  Instruction,
  ToolResultPart,
  Turn,
  UserPart,
} from './conversation.ts';
import type { Losses } from './losses.ts';

/** The turns of a conversation that comes as a list of messages, or of items, each with its role. */
export class Turns implements Pick<Conversation, 'instructions' | 'turns'> {
  readonly instructions: Instruction[];
  readonly turns: Turn[] = [];
  // The parts of the last turn, while it is one that goes on.
  #results: UserPart[] | undefined;
  #assistant: AssistantPart[] | undefined;

  /** `instructions` are those of the body itself, which stand before all messages. */
  constructor(instructions: readonly Instruction[] = []) {
    this.instructions = [...instructions];
  }

  instruct(instruction: Instruction): void {
    if (this.turns.length === 0) this.instructions.push(instruction);
    else this.#begin(instruction);
  }

  /** Tools' answers belong to one turn, with what the user says next. */
  answer(result: ToolResultPart): void {
    if (!this.#results) {
      const parts: UserPart[] = [];
      this.#begin({ role: 'user', parts });
      this.#results = parts;
    }
    this.#results.push(result);
  }

  user(parts: readonly UserPart[]): void {
    const results = this.#results;
    if (!results) this.#begin({ role: 'user', parts });
    // One by one: there may be more than a call takes arguments.
    else for (const part of parts) results.push(part);
    this.#results = undefined;
  }

  assistant(parts: readonly AssistantPart[]): void {
    this.#begin({ role: 'assistant', parts });
  }

  /** Continues the assistant's turn, if it is the last one. */
  say(part: AssistantPart): void {
    if (!this.#assistant) {
      const parts: AssistantPart[] = [];
      this.#begin({ role: 'assistant', parts });
      this.#assistant = parts;
    }
    this.#assistant.push(part);
  }

  /** Ends the assistant's turn where it has said a text: two messages in a row stay two, as the other formats can say it. */
  endMessage(): void {
    const last = this.#assistant?.at(-1)?.type;
    if (last === 'text' || last === 'refusal') this.#assistant = undefined;
  }

  #begin(turn: Turn): void {
    this.#assistant = undefined;
    this.#results = undefined;
    this.turns.push(turn);
  }
}

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
 * may speak while a tool runs, and an agent may report a call twice, or never; providers refuse all of it, and then every further turn. What
 * stood between follows the results, and a result of no call is what the user says.
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
    const others = turn.parts.filter((part) => part.type !== 'toolResult' || !take(part, open));
    const hasAnswered = others.length < turn.parts.length;
    const rest = others.flatMap((part) => (part.type === 'toolResult' ? told(part) : part));
    // The user's words beside the results stay in their turn, if nothing else was said before.
    if (hasAnswered && awaiting && ordered.at(-1) === awaiting && awaiting.rest.length === 0)
      awaiting.rest = rest;
    else if (rest.length > 0 || turn.parts.length === 0) ordered.push({ role: 'user', parts: rest });
  }
  return ordered.flatMap((turn): Turn[] => {
    if (turn.role !== 'results') return [turn];
    const results = Array.from(turn.results, ([id, result]) => result ?? noResult(id));
    return [{ role: 'user', parts: [...results, ...turn.rest] }];
  });
}

function noResult(callId: string): ToolResultPart {
  return { type: 'toolResult', callId, parts: [{ type: 'text', text: 'There is no result.' }] };
}

/** The words of a result whose call is gone, as when a client shortens a conversation. */
function told({ callId, parts }: ToolResultPart): readonly UserPart[] {
  return [{ type: 'text', text: `Returned by the tool call ${callId}:` }, ...parts];
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

/** The parts without reasoning at their end, where an answer was cut off: providers refuse reasoning that nothing follows. */
export function withoutLastReasoning(
  parts: readonly AssistantPart[],
  losses: Losses,
): readonly AssistantPart[] {
  const end = parts.findLastIndex(({ type }) => type !== 'reasoning') + 1;
  if (end === parts.length) return parts;
  losses.lose('reasoningText');
  return parts.slice(0, end);
}
