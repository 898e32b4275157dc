import { isJsonObject } from '../json.ts';
import type { ReasoningSeal } from './conversation.ts';

// A provider's seal on its model's reasoning has to come back with the caller's next turn, or the model starts to think
// from nothing. A caller of another format keeps it where its own format keeps such a thing, unread: that text is
// marked as ours, so that it is never sent to a provider that did not write it.

const MARK = 'gatehouse.v1.';
const KINDS = new Set<unknown>(['signature', 'redacted', 'encrypted']);

/** The seal as one opaque text, for a format whose own seals are of another kind. */
export function sealToText(seal: ReasoningSeal): string {
  return MARK + Buffer.from(JSON.stringify(seal)).toString('base64url');
}

/**
 * The seal that a caller sent back in the place where its format keeps seals of the kind `own`. Undefined for an empty
 * text, and for one that bears our mark and is none of ours.
 */
export function sealOfText(text: string, own: ReasoningSeal['kind'], id?: string): ReasoningSeal | undefined {
  if (text === '') return undefined;
  if (text.startsWith(MARK)) return openSeal(text.slice(MARK.length));
  return own === 'encrypted' && id !== undefined
    ? { kind: own, value: text, id }
    : { kind: own, value: text };
}

function openSeal(text: string): ReasoningSeal | undefined {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(text, 'base64url').toString());
  } catch {
    return undefined;
  }
  if (!isJsonObject(value) || !KINDS.has(value['kind']) || typeof value['value'] !== 'string')
    return undefined;
  const seal = { kind: value['kind'] as ReasoningSeal['kind'], value: value['value'] };
  return seal.kind === 'encrypted' && typeof value['id'] === 'string'
    ? { ...seal, kind: 'encrypted', id: value['id'] }
    : seal;
}
