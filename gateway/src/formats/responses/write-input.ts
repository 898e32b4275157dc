import { defined, type JsonObject } from '../../wire/json.ts';
import { fittingName, REQUEST_RULES } from '../peculiarities/request-rules.ts';
import type {
  AssistantPart,
  Conversation,
  DocumentPart,
  ImagePart,
  ReasoningPart,
  RefusalPart,
  ResultPart,
  TextPart,
  Turn,
  UserPart,
} from '../translation/conversation.ts';
import type { Losses } from '../translation/losses.ts';
import { urlOfSource } from '../translation/part-members.ts';
import { parsableArguments } from '../translation/tool-input.ts';
import type { ToolNames } from '../translation/tool-names.ts';
import { resultsFirst, withoutLastReasoning } from '../translation/turns.ts';
import { summaryPart } from './output-items.ts';

const { maxCallIdLength } = REQUEST_RULES.responses;
/** A file with its content must have a name, which is not empty. */
const UNNAMED_FILE = 'document.pdf';

interface WrittenInput {
  readonly instructions: string | undefined;
  readonly input: readonly JsonObject[];
  /** True if a reasoning of this format is among the items. */
  readonly hasSealedReasoning: boolean;
}

/** The turns as items. */
export function writeInput(conversation: Conversation, names: ToolNames, losses: Losses): WrittenInput {
  const [first, ...others] = conversation.instructions;
  // What the format has a member for, if it is one text of the highest role.
  const own = first?.role === 'system' && first.parts.length === 1 ? first.parts[0] : undefined;
  const writer = new InputWriter(names, losses);
  if (own) writer.noteCacheControl(own);
  const turns: readonly Turn[] = [
    ...(own ? others : conversation.instructions),
    ...resultsFirst(conversation.turns),
  ];
  for (const turn of turns) writer.write(turn);
  return { instructions: own?.text, input: writer.items, hasSealedReasoning: writer.hasSealedReasoning };
}

class InputWriter {
  readonly items: JsonObject[] = [];
  hasSealedReasoning = false;
  readonly #names: ToolNames;
  readonly #losses: Losses;
  readonly #customCalls = new Set<string>();

  constructor(names: ToolNames, losses: Losses) {
    this.#names = names;
    this.#losses = losses;
  }

  write(turn: Turn): void {
    if (turn.role === 'user') this.#user(turn.parts);
    else if (turn.role === 'assistant') this.#assistant(turn.parts);
    else this.#message(turn.role, this.#content(turn.parts));
  }

  noteCacheControl(part: object): void {
    if ('cacheControl' in part) this.#losses.lose('cacheControl');
  }

  #user(parts: readonly UserPart[]): void {
    const said: ResultPart[] = [];
    for (const part of parts) {
      if (part.type !== 'toolResult') {
        said.push(part);
        continue;
      }
      this.noteCacheControl(part);
      if (part.isError) this.#losses.lose('toolResultErrors');
      const content = this.#content(part.parts);
      this.items.push({
        type: this.#customCalls.has(part.callId) ? 'custom_tool_call_output' : 'function_call_output',
        call_id: fittingName(part.callId, maxCallIdLength),
        output: outputOf(part.parts, content),
      });
    }
    this.#message('user', this.#content(said));
  }

  #assistant(parts: readonly AssistantPart[]): void {
    let said: JsonObject[] = [];
    const endMessage = () => {
      this.#message('assistant', said);
      said = [];
    };
    for (const part of withoutLastReasoning(parts, this.#losses)) {
      this.noteCacheControl(part);
      if (part.type === 'text' || part.type === 'refusal') {
        said.push(assistantContent(part));
        continue;
      }
      endMessage();
      if (part.type === 'reasoning') {
        this.#reasoning(part);
        continue;
      }
      if (part.kind === 'custom') this.#customCalls.add(part.id);
      const call = {
        call_id: fittingName(part.id, maxCallIdLength),
        name: this.#names.sent(part.name),
      };
      this.items.push(
        part.kind === 'function'
          ? { type: 'function_call', ...call, arguments: parsableArguments(part.arguments) }
          : { type: 'custom_tool_call', ...call, input: part.arguments },
      );
    }
    endMessage();
  }

  #reasoning({ text, seal }: ReasoningPart): void {
    if (seal?.kind !== 'encrypted') {
      if (seal) this.#losses.lose('reasoningSeal');
      else this.#losses.lose('reasoningText');
      return;
    }
    this.hasSealedReasoning = true;
    this.items.push({
      type: 'reasoning',
      ...defined({ id: seal.id }),
      summary: text === '' ? [] : [summaryPart(text)],
      encrypted_content: seal.value,
    });
  }

  #message(role: string, content: readonly JsonObject[]): void {
    // OpenAI refuses an empty list.
    if (content.length > 0) this.items.push({ type: 'message', role, content });
  }

  #content(parts: readonly ResultPart[]): JsonObject[] {
    return parts.map((part) => {
      this.noteCacheControl(part);
      if (part.type === 'text') return inputText(part.text);
      return part.type === 'image' ? imageOf(part) : this.#document(part);
    });
  }

  #document({ source, name, context }: DocumentPart): JsonObject {
    if (source.kind === 'text')
      return inputText([name, context, source.text].filter((line) => line !== undefined).join('\n\n'));
    if (context !== undefined) this.#losses.lose('documentContext');
    if (source.kind === 'url') return { type: 'input_file', file_url: source.url };
    return { type: 'input_file', filename: name || UNNAMED_FILE, file_data: urlOfSource(source) };
  }
}

function assistantContent({ type, text }: TextPart | RefusalPart): JsonObject {
  return type === 'text' ? { type: 'output_text', text } : { type: 'refusal', refusal: text };
}

function inputText(text: string): JsonObject {
  return { type: 'input_text', text };
}

function imageOf({ source, detail }: ImagePart): JsonObject {
  return { type: 'input_image', image_url: urlOfSource(source), detail: detail ?? 'auto' };
}

/** One text as it is: not every server takes a list here. */
function outputOf(
  parts: readonly ResultPart[],
  content: readonly JsonObject[],
): string | readonly JsonObject[] {
  const [only, ...others] = parts;
  if (only === undefined) return '';
  return only.type === 'text' && others.length === 0 ? only.text : content;
}
