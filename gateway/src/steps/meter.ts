import { byokFeeMicroPkr, costMicroPkr } from '../costs.ts';
import { type Ending, isChargeable } from '../ending.ts';
import type { Exchange } from '../exchange.ts';
import type { AnswerReading } from '../protocols/protocol.ts';

/** What a request used and what that costs. */
export interface Metered {
  /** Null when nothing was processed that could be counted. */
  readonly promptTokens: number | null;
  readonly tokensGenerated: number;
  /** Of the prompt, beside `promptTokens`. Known on the organisation's own provider key only: the cache is its own. */
  readonly cacheWriteTokens: number | null;
  readonly cacheReadTokens: number | null;
  readonly totalTokens: number;
  /** Whether the tokens were counted here because the provider did not say. */
  readonly tokensEstimated: boolean;
  readonly costMicroPkr: bigint;
}

export const NOTHING_USED: Metered = {
  promptTokens: null,
  tokensGenerated: 0,
  cacheWriteTokens: null,
  cacheReadTokens: null,
  totalTokens: 0,
  tokensEstimated: false,
  costMicroPkr: 0n,
};

/** Counts by the provider's own figures, or with a tokenizer where it gave none. */
export async function meter(exchange: Exchange, ending: Ending): Promise<Metered> {
  const { route, promptTokens: countedPrompt = 0, isByok } = exchange;
  if (!route || !isChargeable(ending)) return NOTHING_USED;
  const reading: AnswerReading | undefined = ending.kind === 'refused' ? undefined : ending.reading;
  const usage = reading?.usage;
  const wholePrompt = usage?.promptTokens ?? countedPrompt;
  const tokensGenerated = usage?.completionTokens ?? (await reading?.generated.countTokens()) ?? 0;
  const counted = {
    tokensGenerated,
    totalTokens: wholePrompt + tokensGenerated,
    tokensEstimated: usage === undefined,
  };
  if (!isByok) {
    return {
      ...counted,
      promptTokens: wholePrompt,
      cacheWriteTokens: null,
      cacheReadTokens: null,
      costMicroPkr: costMicroPkr(route, wholePrompt, tokensGenerated),
    };
  }
  const { cacheWriteTokens = null, cacheReadTokens = null } = usage ?? {};
  const promptTokens = wholePrompt - (cacheWriteTokens ?? 0) - (cacheReadTokens ?? 0);
  return {
    ...counted,
    promptTokens,
    cacheWriteTokens,
    cacheReadTokens,
    costMicroPkr: byokFeeMicroPkr(route, {
      promptTokens,
      cacheWriteTokens: cacheWriteTokens ?? 0,
      cacheReadTokens: cacheReadTokens ?? 0,
      completionTokens: tokensGenerated,
    }),
  };
}
