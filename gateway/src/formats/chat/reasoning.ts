import { isJsonObject, type JsonObject } from '../../wire/json.ts';
import { parseBounded, writeBounded } from '../translation/bounded-json.ts';
import type { ReasoningPart, ReasoningSeal } from '../translation/conversation.ts';
import { reasoningPart, sealOfText, sealToText } from '../translation/reasoning.ts';
import { type ChatPiece, plainReasoning, shownDetail } from './pieces.ts';

// Chat completions have no reasoning of their own; servers and clients write it in three ways. `reasoning_content` and
// `reasoning` are plain text. `reasoning_details` is a list, whose entries may hold what the maker wants back; each
// names the maker's format.

const ANTHROPIC = 'anthropic-claude-v1';
const OPENAI = 'openai-responses-v1';
const GATEWAY = 'gatehouse-v1';

/** The reasoning in an assistant's message, of a caller's request. */
export function readReasoning(message: JsonObject): ReasoningPart[] {
  const details: unknown = message['reasoning_details'];
  const parts = Array.isArray(details)
    ? joinedDetails(details.filter(isJsonObject)).flatMap(partOfDetail)
    : [];
  if (parts.length > 0) return parts;
  return reasoningPart(plainReasoning(message), undefined);
}

/** The details of a client that keeps the pieces of a stream as they came: a signature belongs to all of its text. */
function joinedDetails(details: readonly JsonObject[]): readonly JsonObject[] {
  const joined: Record<string, unknown>[] = [];
  for (const detail of details) {
    const last = joined.at(-1);
    const isOpen = last && !isText(last['signature']) && !isText(last['data']);
    if (isOpen && isPieceOf(last, detail)) continueWith(last, detail);
    else joined.push({ ...detail });
  }
  return joined;
}

function isPieceOf(detail: JsonObject, { type, index }: JsonObject): boolean {
  return detail['type'] === type && detail['index'] === index;
}

/** The seal of reasoning whose maker wants its plain text back. */
export function plainSeal(text: string, keepsReasoning: boolean | undefined): ReasoningSeal | undefined {
  return keepsReasoning && text !== '' ? { kind: 'plain', value: text } : undefined;
}

function partOfDetail(detail: JsonObject): ReasoningPart[] {
  const text =
    [detail['text'], detail['summary']].find((one): one is string => typeof one === 'string') ?? '';
  const seal = sealOfDetail(detail);
  return reasoningPart(seal?.kind === 'redacted' ? '' : text, seal);
}

function sealOfDetail({ format, signature, data, id }: JsonObject): ReasoningSeal | undefined {
  if (format === GATEWAY && typeof data === 'string') return sealOfText(data);
  if (format === ANTHROPIC && typeof signature === 'string' && signature !== '') {
    return { kind: 'signature', value: signature };
  }
  if (typeof data !== 'string' || data === '') return undefined;
  if (format === ANTHROPIC) return { kind: 'redacted', value: data };
  if (format !== OPENAI) return undefined;
  return typeof id === 'string' ? { kind: 'encrypted', value: data, id } : { kind: 'encrypted', value: data };
}

/** The entry of `reasoning_details` by which a chat caller can send the reasoning back. */
export function detailOf({ text, seal }: ReasoningPart, index: number): JsonObject {
  const shown = text === '' ? {} : { text };
  if (!seal) return { type: 'reasoning.text', text, index };
  switch (seal.kind) {
    case 'signature':
      return { type: 'reasoning.text', text, signature: seal.value, format: ANTHROPIC, index };
    case 'redacted':
      return { type: 'reasoning.encrypted', data: seal.value, format: ANTHROPIC, index };
    case 'encrypted': {
      const id = seal.id === undefined ? {} : { id: seal.id };
      return { type: 'reasoning.encrypted', data: seal.value, ...shown, ...id, format: OPENAI, index };
    }
    default:
      return { type: 'reasoning.encrypted', data: sealToText(seal) ?? '', ...shown, format: GATEWAY, index };
  }
}

/** The details of a provider's message that it wants back, as a seal; undefined where nothing in them is sealed. */
export function sealOfDetails(details: readonly JsonObject[]): ReasoningSeal | undefined {
  const isSealed = details.some(({ signature, data }) => isText(signature) || isText(data));
  const value = isSealed ? writeBounded(details) : undefined;
  return value === undefined ? undefined : { kind: 'details', value };
}

/** The details in a seal of the kind `details`. */
export function detailsOfSeal(seal: ReasoningSeal): readonly unknown[] {
  const value = parseBounded(seal.value);
  return Array.isArray(value) ? value : [];
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

const MAX_DETAILS = 256;
const MAX_CHARACTERS = 512 * 1024;
/** Members that come in pieces. */
const PIECEWISE = ['text', 'summary', 'data', 'signature'] as const;

/** The reasoning of a stream, put together so that the provider can be sent it back: `reasoning_details`, or its plain text. */
export class StreamedReasoning {
  readonly #keepsReasoning: boolean;
  #plain: string[] = [];
  #details: Record<string, unknown>[] = [];
  #characters = 0;
  #isTooLarge = false;

  /** `keepsReasoning` says that the provider wants the plain text back. */
  constructor(keepsReasoning: boolean) {
    this.#keepsReasoning = keepsReasoning;
  }

  get keptBytes(): number {
    return 2 * this.#characters;
  }

  /** Takes the reasoning of one piece of a message and returns its readable text. */
  add({ reasoning, details }: Pick<ChatPiece, 'reasoning' | 'details'>): string {
    this.#addDetails(details);
    if (this.#keepsReasoning && reasoning !== '' && !this.#isTooLarge) this.#addPlain(reasoning);
    return reasoning || details.map(shownDetail).join('');
  }

  #addPlain(text: string): void {
    this.#plain.push(text);
    this.#characters += text.length;
    if (this.#characters > MAX_CHARACTERS) this.#drop();
  }

  #addDetails(details: readonly JsonObject[]): void {
    for (const detail of details) {
      for (const name of PIECEWISE) this.#characters += lengthOf(detail[name]);
      const last = this.#details.at(-1);
      if (!last || !isPieceOf(last, detail)) this.#details.push({});
      if (this.#isTooLarge || this.#characters > MAX_CHARACTERS || this.#details.length > MAX_DETAILS) {
        this.#drop();
        return;
      }
      continueWith(this.#details.at(-1) ?? {}, detail);
    }
  }

  /** The seal that the provider wants back for the reasoning that has ended. */
  takeSeal(): ReasoningSeal | undefined {
    if (this.#characters === 0 && this.#details.length === 0) return undefined;
    const seal = this.#isTooLarge
      ? undefined
      : (sealOfDetails(this.#details) ?? plainSeal(this.#plain.join(''), this.#keepsReasoning));
    this.#details = [];
    this.#plain = [];
    this.#characters = 0;
    return seal;
  }

  /** Drops all of it: a part would be refused by its maker. */
  #drop(): void {
    this.#isTooLarge = true;
    this.#details = [];
    this.#plain = [];
    this.#characters = 0;
  }
}

function lengthOf(value: unknown): number {
  return typeof value === 'string' ? value.length : 0;
}

function continueWith(kept: Record<string, unknown>, detail: JsonObject): void {
  for (const name of ['type', 'format', 'id', 'index']) {
    const value = detail[name];
    if (typeof value === 'string' || typeof value === 'number') kept[name] = value;
  }
  for (const name of PIECEWISE) {
    const piece = detail[name];
    if (typeof piece !== 'string' || piece === '') continue;
    const before = kept[name];
    kept[name] = typeof before === 'string' ? before + piece : piece;
  }
}

/** The value that a provider gave with a tool call and wants back with it (Gemini: a thought signature), as a seal. */
export function extraSeal(id: string, extra: unknown): ReasoningSeal | undefined {
  const value = isJsonObject(extra) ? writeBounded(extra) : undefined;
  return value === undefined ? undefined : { kind: 'extra', value, id };
}
