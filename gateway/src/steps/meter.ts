import { costMicroPkr } from '../costs.ts';
import { type Ending, isChargeable } from '../ending.ts';
import type { Exchange } from '../exchange.ts';
import type { AnswerReading } from '../protocols/protocol.ts';

/** What a request used and what that costs. */
export interface Metered {
  /** Null when nothing was processed that could be counted. */
  readonly promptTokens: number | null;
  readonly tokensGenerated: number;
  readonly totalTokens: number;
  /** Whether the tokens were counted here because the provider did not say. */
  readonly tokensEstimated: boolean;
  readonly costMicroPkr: bigint;
}

export const NOTHING_USED: Metered = {
  promptTokens: null,
  tokensGenerated: 0,
  totalTokens: 0,
  tokensEstimated: false,
  costMicroPkr: 0n,
};

/** Counts by the provider's own figures, or with a tokenizer where it gave none. */
export async function meter(exchange: Exchange, ending: Ending): Promise<Metered> {
  const { route, promptTokens: countedPrompt = 0 } = exchange;
  if (!route || !isChargeable(ending)) return NOTHING_USED;
  const reading: AnswerReading | undefined = ending.kind === 'refused' ? undefined : ending.reading;
  const usage = reading?.usage;
  const promptTokens = usage?.promptTokens ?? countedPrompt;
  const tokensGenerated = usage?.completionTokens ?? (await reading?.generated.countTokens()) ?? 0;
  return {
    promptTokens,
    tokensGenerated,
    totalTokens: promptTokens + tokensGenerated,
    tokensEstimated: usage === undefined,
    costMicroPkr: costMicroPkr(route, promptTokens, tokensGenerated),
  };
}
