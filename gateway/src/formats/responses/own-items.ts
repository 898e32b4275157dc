import { isJsonObject } from '../../wire/json.ts';
import { membersIn } from '../../wire/scan-json.ts';
import type { Span } from '../../wire/splice.ts';
import { BodyError } from '../call.ts';
import type { ParsedBody } from '../parse-body.ts';

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
export function ownReferences({ value, bytes, spans }: ParsedBody): readonly OwnReference[] {
  const { input } = value;
  const span = spans.get('input');
  if (!Array.isArray(input) || !span || !input.some((item) => ownIdOf(item) !== undefined)) return [];
  const offset = span.valueStart;
  const references = membersIn(bytes.subarray(offset, span.valueEnd)).flatMap(
    ({ valueStart, valueEnd }, index) => {
      const id = ownIdOf(input[index]);
      const place = { start: offset + valueStart, end: offset + valueEnd, path: `input[${index}]` };
      return id === undefined ? [] : [{ ...place, id }];
    },
  );
  if (references.length > MAX_OWN_REFERENCES) {
    throw new BodyError(
      `input refers to more than ${MAX_OWN_REFERENCES} items. Send them whole, with store: false.`,
      'input',
    );
  }
  return references;
}

function ownIdOf(item: unknown): string | undefined {
  if (!isJsonObject(item) || item['type'] !== 'item_reference') return undefined;
  const { id } = item;
  return typeof id === 'string' && isOwnItemId(id) ? id : undefined;
}
