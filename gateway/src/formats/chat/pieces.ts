import { isJsonObject, type JsonObject, textOf } from '../../wire/json.ts';
import type { AnswerTally, SpokenKind } from '../answer-tally.ts';
import { argumentsText } from '../translation/tool-input.ts';

/** The words of a model in a message, or in a piece of one. Texts are empty where it said nothing. */
export interface ChatPiece {
  /** The reasoning that can be read. Of several members that hold it one is read: they hold the same. */
  readonly reasoning: string;
  /** The entries of `reasoning_details`. */
  readonly details: readonly JsonObject[];
  readonly text: string;
  readonly refusal: string;
  /** The words of what was spoken. */
  readonly spoken: string;
  readonly calls: readonly ChatCall[];
}

/** The call of a tool, or a piece of one. */
export interface ChatCall {
  /** Its `index`, where the provider gives one. */
  readonly place: number | undefined;
  readonly id: string;
  readonly kind: 'function' | 'custom';
  readonly name: string;
  readonly arguments: string;
  /** The value that the provider wants back with it. */
  readonly extra: JsonObject | undefined;
}

export const SILENCE: ChatPiece = {
  reasoning: '',
  details: [],
  text: '',
  refusal: '',
  spoken: '',
  calls: [],
};

const REASONING: SpokenKind = { isReasoning: true };
const SEALED: SpokenKind = { isReasoning: true, isCounted: false };

/** True for a piece that says nothing. */
export function isSilent({ reasoning, details, text, refusal, spoken, calls }: ChatPiece): boolean {
  return reasoning + text + refusal + spoken === '' && details.length + calls.length === 0;
}

/** The piece that a choice of an answer, or of a chunk of one, holds. */
export type ReadPiece = (choice: JsonObject) => ChatPiece;

export const readMessage: ReadPiece = ({ message }) => (isJsonObject(message) ? readPiece(message) : SILENCE);

export const readDelta: ReadPiece = ({ delta }) => (isJsonObject(delta) ? readPiece(delta) : SILENCE);

function readPiece(message: JsonObject): ChatPiece {
  const { refusal, audio, tool_calls: calls, reasoning_details: details, function_call: old } = message;
  const listed = objectsIn(calls);
  return {
    reasoning: plainReasoning(message),
    details: objectsIn(details),
    text: textOfContent(message['content']),
    refusal: textOf(refusal),
    spoken: isJsonObject(audio) ? textOf(audio['transcript']) : '',
    // `function_call` came before tools. Servers that write both write the same.
    calls: (listed.length === 0 && isJsonObject(old) ? [{ function: old }] : listed).map(readCall),
  };
}

function readCall(call: JsonObject): ChatCall {
  const { index, id, function: called, custom, extra_content: extra } = call;
  const isCustom = isJsonObject(custom);
  const said = isCustom ? custom : isJsonObject(called) ? called : {};
  return {
    place: placeOf(index),
    id: textOf(id),
    kind: isCustom ? 'custom' : 'function',
    name: textOf(said['name']),
    arguments: argumentsText(said[isCustom ? 'input' : 'arguments']),
    extra: isJsonObject(extra) ? extra : undefined,
  };
}

function placeOf(index: unknown): number | undefined {
  const place = typeof index === 'string' ? Number.parseInt(index, 10) : index;
  return typeof place === 'number' && Number.isInteger(place) ? place : undefined;
}

/** True if a call in the message holds more than text: then a translation needs its numbers as they were sent. */
export function hasValues(message: unknown): boolean {
  return isJsonObject(message) && objectsIn(message['tool_calls']).some(holdsValues);
}

function holdsValues({ function: called, extra_content: extra }: JsonObject): boolean {
  return isJsonObject(extra) || (isJsonObject(called) && isJsonObject(called['arguments']));
}

/** Takes note of what was said in a choice. */
export function hearPiece(tally: AnswerTally, choice: unknown, piece: ChatPiece): void {
  const { reasoning, details, text, refusal, spoken, calls } = piece;
  if (reasoning !== '') tally.hear(`${choice} reasoning`, reasoning, REASONING);
  for (const [position, detail] of details.entries()) {
    if (reasoning === '') tally.hear(`${choice} detail ${position}`, shownDetail(detail), REASONING);
    tally.hear('', textOf(detail['data']), SEALED);
  }
  if (text !== '') tally.hear(`${choice} text`, text);
  if (refusal !== '') tally.hear(`${choice} refusal`, refusal);
  if (spoken !== '') tally.hear(`${choice} spoken`, spoken);
  for (const [position, call] of calls.entries()) {
    const voice = `${choice} tool ${call.place ?? position}`;
    tally.hear(`${voice} name`, call.name);
    tally.hear(`${voice} arguments`, call.arguments);
  }
}

/** The members that hold a reasoning as plain text: DeepSeek and most others; OpenRouter, Groq, vLLM; Copilot; Ollama. */
export const REASONING_MEMBERS = ['reasoning_content', 'reasoning', 'reasoning_text', 'thinking'] as const;

/** The reasoning of a message, or of a piece of one, that is plain text. Servers that write it in two places write the same. */
export function plainReasoning(message: JsonObject): string {
  for (const name of REASONING_MEMBERS) {
    const text = textOf(message[name]);
    if (text !== '') return text;
  }
  return thoughtIn(message['content']);
}

/** The reasoning in the parts of a content, where Mistral and Databricks put it: each a text, or a list of parts of text. */
function thoughtIn(content: unknown): string {
  return objectsIn(content)
    .filter(isThought)
    .map(({ thinking, reasoning, summary, text }) => textOfContent(thinking ?? reasoning ?? summary ?? text))
    .join('');
}

/** The text of a content, or of a piece of one: a string, or a list of parts, of which those of text are read. */
function textOfContent(content: unknown): string {
  if (typeof content === 'string') return content;
  return objectsIn(content)
    .flatMap((part) => (isThought(part) ? [] : textOf(part['text'])))
    .join('');
}

/** True for a part of a content that is reasoning. */
export function isThought({ type }: JsonObject): boolean {
  return type === 'thinking' || type === 'reasoning';
}

/** The readable text of an entry of `reasoning_details`. */
export function shownDetail({ text, summary }: JsonObject): string {
  return textOf(text) || textOf(summary);
}

function objectsIn(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
