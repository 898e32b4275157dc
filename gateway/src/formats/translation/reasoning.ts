import { isJsonObject } from '../../wire/json.ts';
import type { BodyObject } from './body-object.ts';
import type { ReasoningEffort, ReasoningPart, ReasoningRequest, ReasoningSeal } from './conversation.ts';

// A provider's seal on its model's reasoning has to come back with the caller's next turn, or the model starts to think
// from nothing. A caller of another format keeps it where its own format keeps such a thing, unread: that text is
// marked as ours, so that it is never sent to a provider that did not write it.

const MARK = 'gatehouse.v1.';
// Far above a reasoning of a long turn. What is larger is not carried: the caller would send it with every turn.
const MAX_VALUE_CHARACTERS = 512 * 1024;

/** The seal as one opaque text, for a format whose own seals are of another kind; undefined where it is too large. */
export function sealToText(seal: ReasoningSeal): string | undefined {
  if (seal.value.length > MAX_VALUE_CHARACTERS) return undefined;
  return MARK + Buffer.from(JSON.stringify(seal)).toString('base64url');
}

/** True if the text was made by `sealToText`, so that it is no provider's own. */
export function isForeignSeal(text: string): boolean {
  return text.startsWith(MARK);
}

/** The seal that `sealToText` made this text of; undefined where the text was changed or made up. */
export function sealOfText(text: string): ReasoningSeal | undefined {
  if (!isForeignSeal(text)) return undefined;
  let opened: unknown;
  try {
    opened = JSON.parse(Buffer.from(text.slice(MARK.length), 'base64url').toString());
  } catch {
    return undefined;
  }
  if (!isJsonObject(opened)) return undefined;
  const { kind, value, id } = opened;
  if (typeof value !== 'string' || value === '') return undefined;
  switch (kind) {
    case 'signature':
    case 'redacted':
    case 'details':
    case 'plain':
      return { kind, value };
    case 'encrypted':
      return typeof id === 'string' ? { kind, value, id } : { kind, value };
    case 'extra':
      return typeof id === 'string' ? { kind, value, id } : undefined;
    default:
      return undefined;
  }
}

/** The part that reasoning is; none where there is neither text nor seal. */
export function reasoningPart(text: string, seal: ReasoningSeal | undefined): ReasoningPart[] {
  return text === '' && !seal ? [] : [{ type: 'reasoning', text, ...(seal && { seal }) }];
}

const EFFORTS: readonly ReasoningEffort[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

/** The effort that a member names; undefined without the member. Throws a BodyError for another word. */
export function readEffort(holder: BodyObject, name: string): ReasoningRequest | undefined {
  return holder.optionalText(name) === undefined ? undefined : { effort: holder.oneOf(name, EFFORTS) };
}

// Providers that know efforts spend about these on each.
const LOW_BUDGET_TOKENS = 4_096;
const MEDIUM_BUDGET_TOKENS = 16_384;

/** The effort that a request asks for, for a format without budgets; undefined where that is the model's to decide. */
export function effortAskedFor({
  effort,
  thinking,
  budgetTokens,
}: ReasoningRequest): ReasoningEffort | undefined {
  if (thinking === 'disabled') return 'none';
  // Anthropic's alone.
  if (effort === 'max') return 'xhigh';
  if (effort !== undefined || budgetTokens === undefined) return effort;
  if (budgetTokens <= LOW_BUDGET_TOKENS) return 'low';
  return budgetTokens <= MEDIUM_BUDGET_TOKENS ? 'medium' : 'high';
}
