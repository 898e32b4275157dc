import { isJsonObject, type JsonObject } from '../../wire/json.ts';
import { parseBounded, writeBounded } from '../translation/bounded-json.ts';
import type { ReasoningPart, ReasoningSeal } from '../translation/conversation.ts';
import { sealOfText, sealToText } from '../translation/seals.ts';
import { plainReasoning } from './pieces.ts';

// Chat completions have no reasoning of their own; servers and clients write it in three ways. `reasoning_content` and
// `reasoning` are plain text. `reasoning_details` is a list, whose entries may hold what the maker wants back; each
// names the maker's format.

const ANTHROPIC = 'anthropic-claude-v1';
const OPENAI = 'openai-responses-v1';
const GATEWAY = 'gatehouse-v1';

/** The reasoning in an assistant's message, of a caller's request. */
export function readReasoning(message: JsonObject): ReasoningPart[] {
  const details: unknown = message['reasoning_details'];
  const parts = Array.isArray(details) ? details.filter(isJsonObject).flatMap(partOfDetail) : [];
  if (parts.length > 0) return parts;
  const text = plainReasoning(message);
  return text === '' ? [] : [{ type: 'reasoning', text }];
}

/** The seal of reasoning whose maker wants its plain text back. */
export function plainSeal(text: string, keepsReasoning: boolean | undefined): ReasoningSeal | undefined {
  return keepsReasoning && text !== '' ? { kind: 'plain', value: text } : undefined;
}

function partOfDetail(detail: JsonObject): ReasoningPart[] {
  const text = [detail['text'], detail['summary']].find((one) => typeof one === 'string') ?? '';
  const seal = sealOfDetail(detail);
  if (text === '' && !seal) return [];
  return [
    { type: 'reasoning', text: seal?.kind === 'redacted' ? '' : (text as string), ...(seal && { seal }) },
  ];
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
