import { defined, isJsonObject, type JsonObject } from '../../wire/json.ts';
import { parseBounded } from '../translation/bounded-json.ts';
import { jsonArguments } from '../translation/callers-tools.ts';
import type {
  AssistantPart,
  Conversation,
  DocumentPart,
  ReasoningPart,
  ResultPart,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  Turn,
  UserPart,
} from '../translation/conversation.ts';
import type { Losses } from '../translation/losses.ts';
import { urlOfSource } from '../translation/part-members.ts';
import { parsableArguments } from '../translation/tool-input.ts';
import type { ToolNames } from '../translation/tool-names.ts';
import { resultsFirst } from '../translation/turns.ts';
import { detailsOfSeal } from './reasoning.ts';

export interface MessageContext {
  readonly losses: Losses;
  readonly names: ToolNames;
  readonly keep: readonly string[];
  /** The id of a tool call, as the provider takes it. */
  readonly callId: (id: string) => string;
  /** True where the provider refuses what a user says right after a tool's result. */
  readonly isStrict: boolean;
}

/** The messages of a chat request. The templates of some models take one system message, at the beginning. */
export function writeMessages({ instructions, turns }: Conversation, context: MessageContext): JsonObject[] {
  const leading = { role: 'system', parts: instructions.flatMap(({ parts }) => parts) } as const;
  const messages = [leading, ...resultsFirst(turns)].flatMap((turn) => writeTurn(turn, context));
  return context.isStrict ? inStrictOrder(messages) : messages;
}

/** Mistral takes the role system in the beginning only, and after a result nothing but the assistant. */
function inStrictOrder(messages: readonly JsonObject[]): JsonObject[] {
  return messages.flatMap((message, at) => {
    const { role, content } = message;
    if (at === 0 || (role !== 'system' && role !== 'user')) return [message];
    const said =
      role === 'user' ? message : { role: 'user', content: `<system>\n${String(content)}\n</system>` };
    return messages[at - 1]?.['role'] === 'tool' ? [{ role: 'assistant', content: 'OK.' }, said] : [said];
  });
}

function writeTurn(turn: Turn, context: MessageContext): JsonObject[] {
  switch (turn.role) {
    case 'user':
      return writeUser(turn.parts, context);
    case 'assistant':
      return writeAssistant(turn.parts, context);
    default:
      // Few servers know the role developer, and those that do take system for it.
      return turn.parts.length === 0 ? [] : [{ role: 'system', content: writeTexts(turn.parts) }];
  }
}

/** The results of tools come first, each in a message of its own: they answer the turn before. */
function writeUser(parts: readonly UserPart[], context: MessageContext): JsonObject[] {
  const results = parts.filter((part) => part.type === 'toolResult');
  const others = parts.filter((part) => part.type !== 'toolResult');
  const media = results.flatMap((result) => mediaOf(result, context));
  const content = [...media, ...others];
  return [
    ...results.map((result) => writeResult(result, context)),
    ...(content.length === 0 ? [] : [{ role: 'user', content: writeContent(content, context) }]),
  ];
}

function writeContent(parts: readonly ResultPart[], { losses }: MessageContext): string | JsonObject[] {
  const texts = parts.filter((part) => part.type === 'text');
  if (texts.length === parts.length) return writeTexts(texts);
  return parts.map((part) => writePart(part, losses));
}

/** A tool's message holds text only: pictures and documents follow in the user's message, with the id of the call. */
function mediaOf({ callId, parts }: ToolResultPart, context: MessageContext): ResultPart[] {
  const media = parts.filter((part) => part.type !== 'text');
  if (media.length === 0) return [];
  return [{ type: 'text', text: `Returned by the tool call ${context.callId(callId)}:` }, ...media];
}

function writeResult(
  { callId, parts, isError }: ToolResultPart,
  { losses, callId: idOf }: MessageContext,
): JsonObject {
  if (isError) losses.lose('toolResultErrors');
  const texts = parts.filter((part) => part.type === 'text');
  const shown: readonly TextPart[] =
    texts.length === 0 && parts.length > 0 ? [{ type: 'text', text: 'See the next message.' }] : texts;
  return { role: 'tool', tool_call_id: idOf(callId), content: writeTexts(shown) };
}

function writeAssistant(parts: readonly AssistantPart[], context: MessageContext): JsonObject[] {
  const texts = parts.filter((part) => part.type === 'text');
  const refusals = parts.filter((part) => part.type === 'refusal');
  const reasoning = parts.filter((part) => part.type === 'reasoning');
  const extras = extrasOf(reasoning);
  const calls = parts
    .filter((part) => part.type === 'toolCall')
    .map((call) => writeCall(call, extras.get(call.id), context));
  const kept = writeReasoning(reasoning, context);
  if (texts.length + refusals.length + calls.length === 0) return [];
  return [
    {
      role: 'assistant',
      content: texts.length === 0 ? null : writeTexts(texts),
      ...kept,
      ...(refusals.length > 0 && { refusal: refusals.map(({ text }) => text).join('\n') }),
      ...(calls.length > 0 && { tool_calls: calls }),
    },
  ];
}

function writeCall(call: ToolCallPart, extra: unknown, { names, keep, callId }: MessageContext): JsonObject {
  const isKept = extra !== undefined && keep.includes('extra_content');
  return {
    id: callId(call.id),
    type: 'function',
    function: { name: names.sent(call.name), arguments: parsableArguments(jsonArguments(call)) },
    ...(isKept && { extra_content: extra }),
  };
}

/** The values that the provider gave with its tool calls, by the call's id. */
function extrasOf(reasoning: readonly ReasoningPart[]): ReadonlyMap<string, unknown> {
  return new Map(
    reasoning.flatMap(({ seal }): [string, unknown][] => {
      const extra = seal?.kind === 'extra' ? parseBounded(seal.value) : undefined;
      return seal?.kind === 'extra' && isJsonObject(extra) ? [[seal.id, extra]] : [];
    }),
  );
}

/** The reasoning, as far as the provider wants it back. */
function writeReasoning(reasoning: readonly ReasoningPart[], { keep, losses }: MessageContext): JsonObject {
  // A client may send back the seal alone.
  const text = reasoning
    .map(({ text: shown, seal }) => (seal?.kind === 'plain' ? seal.value : shown))
    .join('');
  const keepsText = keep.includes('reasoning_content');
  const details = reasoning.flatMap(({ seal }) =>
    seal?.kind === 'details' && keep.includes('reasoning_details') ? detailsOfSeal(seal) : [],
  );
  for (const { text: shown, seal } of reasoning) {
    const isKept =
      (seal?.kind === 'details' && keep.includes('reasoning_details')) ||
      (seal?.kind === 'plain' && keepsText) ||
      (seal?.kind === 'extra' && keep.includes('extra_content'));
    if (seal && !isKept) losses.lose('reasoningSeal');
    if (shown !== '' && !keepsText && !isKept) losses.lose('reasoningText');
  }
  return {
    ...(keepsText && text !== '' && { reasoning_content: text }),
    ...(details.length > 0 && { reasoning_details: details }),
  };
}

/** Texts are one text, with a blank line between them: DeepSeek and others take no list of parts. */
function writeTexts(parts: readonly TextPart[]): string {
  return parts.map(({ text }) => text).join('\n\n');
}

function writePart(part: ResultPart, losses: Losses): JsonObject {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'image': {
      // A word of responses alone, as Codex says it. Chat's most is high.
      const isOriginal = part.detail === 'original';
      if (isOriginal) losses.lose('imageDetail');
      const detail = isOriginal ? 'high' : part.detail;
      return { type: 'image_url', image_url: { url: urlOfSource(part.source), ...defined({ detail }) } };
    }
    case 'document':
      return writeDocument(part, losses);
  }
}

function writeDocument({ source, name, context }: DocumentPart, losses: Losses): JsonObject {
  if (source.kind === 'text') {
    const text = [name, context, source.text].filter((line) => line !== undefined).join('\n\n');
    return { type: 'text', text };
  }
  if (source.kind === 'url') losses.lose('documentUrl');
  if (context !== undefined) losses.lose('documentContext');
  return { type: 'file', file: { filename: name || 'document.pdf', file_data: urlOfSource(source) } };
}
