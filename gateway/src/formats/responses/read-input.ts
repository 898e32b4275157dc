import type { JsonObject } from '../../wire/json.ts';
import {
  optionalText,
  requireList,
  requireObject,
  requireOneOf,
  requireText,
} from '../translation/body-members.ts';
import type {
  AssistantPart,
  Instruction,
  RefusalPart,
  ResultPart,
  TextPart,
  ToolCallPart,
  Turn,
  UserPart,
} from '../translation/conversation.ts';
import type { Losses } from '../translation/losses.ts';
import { discloseAnnotations, readParts, readTexts } from './read-content.ts';
import { type FlatNames, namesOfFound, TOOL_SEARCH } from './read-tools.ts';
import { REASONING_ID, readReasoning } from './reasoning.ts';

const ROLES = ['user', 'assistant', 'system', 'developer'] as const;

/** Calls that the provider itself carried out, whose words are in the answer that follows. */
const HOSTED_CALLS = new Set(['web_search_call', 'mcp_list_tools']);
const MESSAGE_MEMBERS = new Set(['type', 'id', 'status', 'role', 'content']);

export interface InputReading {
  readonly instructions: readonly Instruction[];
  readonly turns: readonly Turn[];
}

/** The items of a request's input, as turns. `instructions` are the request's own, which stand before them. */
export function readInput(
  items: readonly JsonObject[],
  instructions: readonly Instruction[],
  names: FlatNames,
  losses: Losses,
): InputReading {
  const reader = new InputReader(instructions, names, losses);
  for (const [index, item] of items.entries()) reader.read(item, `input[${index}]`);
  return reader;
}

class InputReader implements InputReading {
  readonly instructions: Instruction[];
  readonly turns: Turn[] = [];
  readonly #names: FlatNames;
  readonly #losses: Losses;
  // The parts of the last turn, while it is one that goes on.
  #assistant: AssistantPart[] | undefined;
  #results: UserPart[] | undefined;

  constructor(instructions: readonly Instruction[], names: FlatNames, losses: Losses) {
    this.instructions = [...instructions];
    this.#names = names;
    this.#losses = losses;
  }

  read(item: JsonObject, path: string): void {
    const type = item['type'] ?? 'message';
    switch (type) {
      case 'message':
        this.#message(item, path);
        break;
      case 'reasoning':
        for (const part of readReasoning(item, path)) this.#say(part);
        break;
      case 'function_call':
        this.#say(this.#call(item, 'function', requireText(item['arguments'], `${path}.arguments`), path));
        break;
      case 'custom_tool_call':
        this.#say(this.#call(item, 'custom', requireText(item['input'], `${path}.input`), path));
        break;
      case 'tool_search_call':
        this.#search(item, path);
        break;
      case 'tool_search_output':
        this.#found(item, path);
        break;
      case 'local_shell_call':
        this.#say(localShellCall(item, path));
        break;
      case 'function_call_output':
      case 'custom_tool_call_output':
        this.#result(item, requireText(item['call_id'], `${path}.call_id`), path);
        break;
      case 'local_shell_call_output':
        this.#result(item, requireText(item['call_id'] ?? item['id'], `${path}.call_id`), path);
        break;
      case 'item_reference':
        this.#reference(requireText(item['id'], `${path}.id`), path);
        break;
      default:
        this.#other(requireText(type, `${path}.type`), path);
    }
  }

  #other(type: string, path: string): void {
    // Its tools are declared, as readTools has read them.
    if (type === 'additional_tools') return;
    if (HOSTED_CALLS.has(type)) this.#losses.lose('hostedCalls', `input[${type}]`);
    else this.#losses.lose('otherItems', path);
  }

  /** Nothing is stored that it could refer to. Without its reasoning a conversation says the same. */
  #reference(id: string, path: string): void {
    if (id.startsWith(REASONING_ID)) this.#losses.lose('reasoningText', 'input[item_reference]');
    else this.#losses.lose('itemReferences', path);
  }

  #message(item: JsonObject, path: string): void {
    const role = requireOneOf(item['role'], ROLES, `${path}.role`);
    for (const [name, value] of Object.entries(item)) {
      if (!MESSAGE_MEMBERS.has(name) && (value ?? null) !== null)
        this.#losses.lose('unknownMember', `input.${name}`);
    }
    const at = `${path}.content`;
    if (role === 'assistant') this.#assistantMessage(item['content'], at);
    else if (role === 'user') this.#user(readParts(item['content'], at, this.#losses));
    else this.#instruct({ role, parts: readTexts(item['content'], at, this.#losses) });
  }

  #user(parts: ResultPart[]): void {
    // What the tools answered belongs to one turn, with what the user says next.
    if (!this.#results) this.#turn({ role: 'user', parts });
    // One by one: there may be more than a call takes arguments.
    for (const part of this.#results ? parts : []) this.#results?.push(part);
    this.#results = undefined;
  }

  #instruct(instruction: Instruction): void {
    if (this.turns.length === 0) this.instructions.push(instruction);
    else this.#turn(instruction);
  }

  #assistantMessage(content: unknown, path: string): void {
    const parts = assistantParts(content, path, this.#losses);
    // Two messages in a row stay two, as the other formats can say it.
    const last = this.#assistant?.at(-1)?.type;
    if (last === 'text' || last === 'refusal') this.#assistant = undefined;
    for (const part of parts) this.#say(part);
  }

  #say(part: AssistantPart): void {
    if (!this.#assistant) {
      const parts: AssistantPart[] = [];
      this.#turn({ role: 'assistant', parts });
      this.#assistant = parts;
    }
    this.#assistant.push(part);
  }

  #call(item: JsonObject, kind: ToolCallPart['kind'], text: string, path: string): ToolCallPart {
    const namespace = optionalText(item, 'namespace', `${path}.namespace`);
    const name = this.#names.of(namespace, requireText(item['name'], `${path}.name`));
    return {
      type: 'toolCall',
      id: requireText(item['call_id'], `${path}.call_id`),
      kind,
      name,
      arguments: text,
    };
  }

  #result(item: JsonObject, callId: string, path: string): void {
    this.#answer(callId, readParts(item['output'], `${path}.output`, this.#losses));
  }

  /** A search that the provider ran is none of the caller's calls. */
  #search(item: JsonObject, path: string): void {
    const id = optionalText(item, 'call_id', `${path}.call_id`);
    if (id === undefined) {
      this.#losses.lose('hostedCalls', 'input[tool_search_call]');
      return;
    }
    const query = item['arguments'];
    this.#say({
      type: 'toolCall',
      id,
      kind: 'function',
      name: TOOL_SEARCH,
      arguments: typeof query === 'string' ? query : JSON.stringify(query ?? {}),
    });
  }

  /** The tools themselves are declared, as readTools has read them. */
  #found(item: JsonObject, path: string): void {
    const id = optionalText(item, 'call_id', `${path}.call_id`);
    if (id === undefined) return;
    const found = namesOfFound(item['tools'] ?? [], `${path}.tools`, this.#names);
    const text =
      found.length === 0 ? 'No tools were found.' : `These tools can be called now: ${found.join(', ')}`;
    this.#answer(id, [{ type: 'text', text }]);
  }

  #answer(callId: string, parts: readonly ResultPart[]): void {
    if (!this.#results) {
      const results: UserPart[] = [];
      this.#turn({ role: 'user', parts: results });
      this.#results = results;
    }
    this.#results.push({ type: 'toolResult', callId, parts });
  }

  #turn(turn: Turn): void {
    this.#assistant = undefined;
    this.#results = undefined;
    this.turns.push(turn);
  }
}

function assistantParts(content: unknown, path: string, losses: Losses): (TextPart | RefusalPart)[] {
  if (typeof content === 'string') return readTexts(content, path, losses);
  return requireList(content, path).flatMap((value, index): (TextPart | RefusalPart)[] => {
    const at = `${path}[${index}]`;
    const part = requireObject(value, at);
    if (part['type'] === 'refusal')
      return [{ type: 'refusal', text: requireText(part['refusal'], `${at}.refusal`) }];
    discloseAnnotations(part, losses);
    return readTexts([part], at, losses);
  });
}

/** A call of the shell that the client runs; its arguments are those that the other formats know it by. */
function localShellCall(item: JsonObject, path: string): ToolCallPart {
  const { command, env, timeout_ms, user, working_directory } = requireObject(
    item['action'],
    `${path}.action`,
  );
  const stated = Object.entries({ command, env, timeout_ms, user, working_directory }).filter(
    ([, value]) => (value ?? null) !== null,
  );
  return {
    type: 'toolCall',
    id: requireText(item['call_id'], `${path}.call_id`),
    kind: 'function',
    name: 'local_shell',
    arguments: JSON.stringify(Object.fromEntries(stated)),
  };
}
