import { isJsonObject } from '../../wire/json.ts';
import { membersIn } from '../../wire/scan-json.ts';
import { type Edit, editsWithout, type Span } from '../../wire/splice.ts';
import { BodyError } from '../call.ts';
import type { ParsedBody } from '../parse-body.ts';
import { isForeignSeal } from '../translation/reasoning.ts';

// The ids of items that this gateway keeps. They hold 128 random bits, so nobody guesses one.

const OWN = /^[a-z]{2,3}_gk[0-9a-f]{32}_\d{1,4}$/;
/** As many as fit into the longest conversation of an agent. */
export const MAX_OWN_REFERENCES = 1_000;

/** A reference to an item that this gateway keeps, and its place in the body. */
export interface OwnReference extends Span {
  readonly id: string;
  /** The place in the input, as an error names it. */
  readonly path: string;
}

/** The part of an id that is the same for all items of an answer; `seed` is 32 hexadecimal digits. */
export function ownSuffix(seed: string): string {
  return `gk${seed}`;
}

export function isOwnItemId(id: string): boolean {
  return OWN.test(id);
}

/** The references of a body to items that this gateway keeps. */
export function ownReferences(body: ParsedBody): readonly OwnReference[] {
  const references = itemsOf(body, (item) => ownIdOf(item) !== undefined).flatMap((place, index) => {
    const id = ownIdOf(place.item);
    return id === undefined ? [] : [{ start: place.start, end: place.end, path: `input[${index}]`, id }];
  });
  if (references.length > MAX_OWN_REFERENCES) {
    throw new BodyError(
      `input refers to more than ${MAX_OWN_REFERENCES} items. Send them whole, with store: false.`,
      'input',
    );
  }
  return references;
}

/** Takes out the reasoning of other providers that was put in place of references: a provider of this format refuses their seals. */
export function foreignReasoningEdits(body: ParsedBody): readonly Edit[] {
  const items = itemsOf(body, isForeignReasoning);
  return editsWithout(items, (index) => isForeignReasoning(items[index]?.item));
}

function isForeignReasoning(item: unknown): boolean {
  if (!isJsonObject(item)) return false;
  const { id, encrypted_content: encrypted } = item;
  return (
    typeof id === 'string' && isOwnItemId(id) && typeof encrypted === 'string' && isForeignSeal(encrypted)
  );
}

/** All items of the input with their places, if one is wanted. */
function itemsOf({ value, bytes, spans }: ParsedBody, isWanted: (item: unknown) => boolean) {
  const { input } = value;
  const span = spans.get('input');
  if (!Array.isArray(input) || !span || !input.some(isWanted)) return [];
  const offset = span.valueStart;
  return membersIn(bytes.subarray(offset, span.valueEnd)).map(({ valueStart, valueEnd }, index) => {
    const item: unknown = input[index];
    return { start: offset + valueStart, end: offset + valueEnd, item };
  });
}

function ownIdOf(item: unknown): string | undefined {
  if (!isJsonObject(item) || item['type'] !== 'item_reference') return undefined;
  const { id } = item;
  return typeof id === 'string' && isOwnItemId(id) ? id : undefined;
}
