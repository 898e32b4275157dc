import { defined, type JsonObject } from '../../wire/json.ts';
import { fittingName, REQUEST_RULES } from '../peculiarities/request-rules.ts';
import { jsonArguments } from '../translation/callers-tools.ts';
import type {
  AssistantPart,
  Conversation,
  DocumentPart,
  ImagePart,
  ResultPart,
  TextPart,
  ToolResultPart,
  Turn,
  UserPart,
} from '../translation/conversation.ts';
import type { Losses } from '../translation/losses.ts';
import { writeCacheControl } from '../translation/part-members.ts';
import { inputOfText } from '../translation/tool-input.ts';
import type { ToolNames } from '../translation/tool-names.ts';
import { resultsFirst, withoutLastReasoning } from '../translation/turns.ts';

const { maxCallIdLength, maxTitleLength } = REQUEST_RULES.messages;

export interface MessageContext {
  readonly losses: Losses;
  readonly names: ToolNames;
  readonly keep: readonly string[];
}

/** The system prompt; a conversation without any turn is all prompt, and has none. */
export function writeSystem({ instructions, turns }: Conversation): JsonObject {
  const parts = spoken(instructions.flatMap((instruction) => instruction.parts));
  return parts.length === 0 || turns.length === 0 ? {} : { system: writeTexts(parts) };
}

/** The messages of a messages request, none of them empty. The first is the user's, or Anthropic refuses all. */
export function writeMessages({ instructions, turns }: Conversation, context: MessageContext): JsonObject[] {
  if (turns.length === 0) {
    const parts = spoken(instructions.flatMap((instruction) => instruction.parts));
    return parts.length === 0 ? [] : [{ role: 'user', content: writeTexts(parts) }];
  }
  const placed = inPlace(resultsFirst(turns), context.keep.includes('system_turns'));
  const written = withoutLastSpace(placed, context.losses).flatMap((turn): JsonObject[] => {
    switch (turn.role) {
      case 'user':
        return message('user', writeUser(turn.parts, context));
      case 'assistant':
        return message('assistant', writeAssistant(turn.parts, context));
      default:
        return message('system', spoken(turn.parts).map(writeBlock));
    }
  });
  return written[0]?.['role'] === 'assistant' ? [{ role: 'user', content: BEGINNING }, ...written] : written;
}

/** The user's turn before an assistant that speaks first: a greeting, for example, which OpenAI takes. */
const BEGINNING = '(The conversation begins here.)';

/** The parts without texts of white space only, which Anthropic refuses. A breakpoint of theirs goes to the part before. */
function spoken<P extends UserPart | AssistantPart>(parts: readonly P[]): readonly P[] {
  if (!parts.some(isBlank)) return parts;
  const kept: P[] = [];
  for (const part of parts) {
    const last = kept.at(-1);
    if (!isBlank(part)) kept.push(part);
    else if (last && 'cacheControl' in part && !('cacheControl' in last))
      kept[kept.length - 1] = { ...last, cacheControl: part.cacheControl };
  }
  return kept;
}

function isBlank(part: UserPart | AssistantPart): boolean {
  return (part.type === 'text' || part.type === 'refusal') && part.text.trim() === '';
}

/** The same turns, without reasoning and white space at the end of an answer that the model is to continue: Anthropic refuses both. */
function withoutLastSpace(turns: readonly Turn[], losses: Losses): readonly Turn[] {
  const last = turns.at(-1);
  if (last?.role !== 'assistant') return turns;
  const parts = withoutLastReasoning(spoken(last.parts), losses);
  const said = parts.at(-1);
  const text = said?.type === 'text' ? [{ ...said, text: said.text.trimEnd() }] : [];
  return [
    ...turns.slice(0, -1),
    { ...last, parts: [...parts.slice(0, parts.length - text.length), ...text] },
  ];
}

/**
 * Instructions between the turns. Newer models take them as turns of their own, right after a user's turn. For others
 * they become part of what the user says: there they keep their place, and the prompt before them stays the same, which
 * is what the cache goes by.
 */
function inPlace(turns: readonly Turn[], takesSystemTurns: boolean): readonly Turn[] {
  if (!takesSystemTurns) {
    return turns.map((turn) =>
      turn.role === 'system' || turn.role === 'developer'
        ? {
            role: 'user',
            parts: turn.parts.map((part) => ({ ...part, text: `<system>\n${part.text}\n</system>` })),
          }
        : turn,
    );
  }
  const placed: Turn[] = [];
  let waiting: Turn[] = [];
  for (const turn of turns) {
    const isInstruction = turn.role === 'system' || turn.role === 'developer';
    const follows = placed.at(-1)?.role;
    if (isInstruction && follows !== 'user' && follows !== 'system' && follows !== 'developer')
      waiting.push(turn);
    else placed.push(turn);
    if (turn.role === 'user') {
      for (const instruction of waiting) placed.push(instruction);
      waiting = [];
    }
  }
  return [...placed, ...waiting];
}

function message(role: string, blocks: readonly JsonObject[]): JsonObject[] {
  const [first, ...others] = blocks;
  if (!first) return [];
  const isPlainText = others.length === 0 && first['type'] === 'text' && !('cache_control' in first);
  return [{ role, content: isPlainText ? first['text'] : blocks }];
}

function writeTexts(parts: readonly TextPart[]): string | JsonObject[] {
  const [first, ...others] = parts;
  return first && others.length === 0 && !first.cacheControl ? first.text : parts.map(writeBlock);
}

/** The results of tools come first, or Anthropic does not find them. */
function writeUser(parts: readonly UserPart[], context: MessageContext): JsonObject[] {
  const results = parts.filter((part) => part.type === 'toolResult');
  const others = spoken(parts.filter((part) => part.type !== 'toolResult'));
  loseDetail(others, context.losses);
  return [...results.map((result) => writeResult(result, context)), ...others.map(writeBlock)];
}

function writeResult(
  { callId, parts, isError, ...others }: ToolResultPart,
  { losses }: MessageContext,
): JsonObject {
  loseDetail(parts, losses);
  // Anthropic refuses a breakpoint within a result: "place it directly on `tool_result`".
  const blocks = spoken(parts).map(({ cacheControl: _, ...part }) => writeBlock(part));
  const marked = [...parts, others].findLast(({ cacheControl }) => cacheControl !== undefined);
  const [content] = message('tool', blocks);
  return {
    type: 'tool_result',
    tool_use_id: fittingName(callId, maxCallIdLength),
    ...(content && { content: content['content'] }),
    ...(isError && { is_error: true }),
    ...writeCacheControl(marked ?? others),
  };
}

function loseDetail(parts: readonly object[], losses: Losses): void {
  if (parts.some((part) => 'detail' in part && part.detail !== 'auto')) losses.lose('imageDetail');
}

function writeAssistant(parts: readonly AssistantPart[], context: MessageContext): JsonObject[] {
  return spoken(parts)
    .map((part) => writeAssistantPart(part, context))
    .filter((block) => block !== undefined);
}

function writeAssistantPart(part: AssistantPart, { losses, names }: MessageContext): JsonObject | undefined {
  switch (part.type) {
    case 'text':
      return writeBlock(part);
    case 'refusal':
      return { type: 'text', text: part.text };
    case 'reasoning': {
      // Anthropic refuses the whole request for a thinking block that it did not sign.
      const { text, seal } = part;
      if (seal?.kind === 'signature') return { type: 'thinking', thinking: text, signature: seal.value };
      if (seal?.kind === 'redacted') return { type: 'redacted_thinking', data: seal.value };
      losses.lose(seal ? 'reasoningSeal' : 'reasoningText');
      return undefined;
    }
    case 'toolCall':
      return {
        type: 'tool_use',
        id: fittingName(part.id, maxCallIdLength),
        name: names.sent(part.name),
        input: inputOfText(jsonArguments(part)),
        ...writeCacheControl(part),
      };
  }
}

export function writeBlock(part: ResultPart): JsonObject {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text, ...writeCacheControl(part) };
    case 'image':
      return { type: 'image', source: writeSource(part.source), ...writeCacheControl(part) };
    case 'document': {
      const { name, context } = part;
      return {
        type: 'document',
        source: writeSource(part.source),
        ...defined({ title: name?.slice(0, maxTitleLength) || undefined, context }),
        ...writeCacheControl(part),
      };
    }
  }
}

function writeSource(source: ImagePart['source'] | DocumentPart['source']): JsonObject {
  switch (source.kind) {
    case 'url':
      return { type: 'url', url: source.url };
    case 'base64':
      return { type: 'base64', media_type: source.mediaType, data: source.data };
    case 'text':
      return { type: 'text', media_type: 'text/plain', data: source.text };
  }
}

/**
 * Anthropic takes calls of tools in a conversation only where tools are declared. Codex declares none when it asks for a
 * summary of a long session: those that were called are declared then, and none of them may be called.
 */
export function writeCalledTools({ turns }: Conversation, names: ToolNames): JsonObject {
  const called = new Set(
    turns.flatMap((turn) =>
      turn.role === 'assistant'
        ? turn.parts.flatMap((part) => (part.type === 'toolCall' ? names.sent(part.name) : []))
        : [],
    ),
  );
  if (called.size === 0) return {};
  const tools = Array.from(called, (name) => ({ name, input_schema: { type: 'object' } }));
  return { tools, tool_choice: { type: 'none' } };
}
