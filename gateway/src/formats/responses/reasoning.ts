import { isJsonObject, type JsonObject } from '../../wire/json.ts';
import type { BodyObject } from '../translation/body-object.ts';
import type { ReasoningPart, ReasoningSeal } from '../translation/conversation.ts';
import { isForeignSeal, reasoningPart, sealOfText, sealToText } from '../translation/reasoning.ts';

// A reasoning item: what may be read of it in its summary (or its content, which only open models show), and what only
// its maker reads in `encrypted_content`. A seal of another provider travels there too.

/** The prefix of ids of reasoning items. */
export const REASONING_ID = 'rs_';

/** Between the parts of a summary, as they are joined into one text. */
export const SUMMARY_BREAK = '\n\n';

/** The reasoning of a caller's earlier turn; none where the item says nothing. */
export function readReasoning(item: BodyObject): ReasoningPart[] {
  const summary = Array.from(item.optionalObjects('summary'), (part) => part.text('text'));
  const content = Array.from(item.optionalObjects('content'), (part) => part.text('text'));
  const encrypted = item.optionalText('encrypted_content') ?? '';
  const text = (summary.length > 0 ? summary : content).join(SUMMARY_BREAK);
  return reasoningPart(text, sealOf(encrypted, item.optionalText('id')));
}

/** A provider's own seal, or the foreign one that it carries. Undefined for none. */
export function sealOf(encrypted: string, id: string | undefined): ReasoningSeal | undefined {
  if (encrypted === '') return undefined;
  if (isForeignSeal(encrypted)) return sealOfText(encrypted);
  return { kind: 'encrypted', value: encrypted, ...(id !== undefined && { id }) };
}

/** The seal as `encrypted_content`; undefined where it is too large to be carried. */
export function encryptedContent(seal: ReasoningSeal): string | undefined {
  return seal.kind === 'encrypted' ? seal.value : sealToText(seal);
}

/** The texts of a provider's reasoning item, whatever shape they have. */
export function shownReasoning(item: JsonObject): string {
  const summary = textsIn(item['summary']);
  return (summary.length > 0 ? summary : textsIn(item['content'])).join(SUMMARY_BREAK);
}

function textsIn(value: unknown): string[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((part: unknown) =>
    isJsonObject(part) && typeof part['text'] === 'string' && part['text'] !== '' ? [part['text']] : [],
  );
}
