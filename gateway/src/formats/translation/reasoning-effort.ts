import type { BodyObject } from './body-object.ts';
import type { ReasoningEffort, ReasoningRequest } from './conversation.ts';

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
  if (effort !== undefined || budgetTokens === undefined) return effort;
  if (budgetTokens <= LOW_BUDGET_TOKENS) return 'low';
  return budgetTokens <= MEDIUM_BUDGET_TOKENS ? 'medium' : 'high';
}
