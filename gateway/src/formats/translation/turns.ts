import type {
  AssistantPart,
  Conversation,
  Instruction,
  ToolResultPart,
  Turn,
  UserPart,
} from './conversation.ts';

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
