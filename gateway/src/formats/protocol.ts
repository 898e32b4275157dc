// What is known of a provider's answer, whatever its format.

/**
 * The usage that the provider reports. Optional figures are parts of the ones above them, or left out where it does not say. Each is a safe
 * integer of at least 0; whether it can be true is for the meter to judge.
 */
export interface Usage {
  /** All of the prompt: uncached, served by a cache, and written to one. */
  readonly promptTokens: number;
  /** All that was generated, reasoning included. */
  readonly completionTokens: number;
  readonly cacheReadTokens?: number;
  /** Tokens kept for five minutes and those kept for an hour. */
  readonly cacheWriteTokens?: number;
  /** The part of `cacheWriteTokens` that is kept for an hour. */
  readonly cacheWrite1hTokens?: number;
  /** The part of `completionTokens` that is reasoning. */
  readonly reasoningTokens?: number;
  /** The calls that have a price, such as `web_search`; at most 16 names. */
  readonly calls?: Readonly<Record<string, number>>;
  /** The provider's own totals do not agree with its parts. Then the totals are the larger of both. */
  readonly isContradictory?: true;
}

/** Counts the tokens of texts: small ones at once, large ones in a reader thread. */
export type CountTokens = (texts: Iterable<string>) => Promise<number>;

/** The facts of an answer, as far as it was read. */
export interface AnswerReading {
  /** As the provider said it last. */
  readonly usage: Usage | undefined;
  /** True if nothing was generated after the usage was said: while a stream goes on, it may say another. */
  readonly isUsageFinal: boolean;
  /** True if anything that was generated has come yet. */
  readonly hasContent: boolean;
  /** True if the model was seen to reason: then much may have been generated that is not shown. */
  readonly hasReasoning: boolean;
  /** The tokens of what was generated, as far as it was seen; 0 for a whole answer that states them. */
  countGenerated(count: CountTokens): Promise<number>;
  /** The error inside the answer. */
  readonly upstreamError: string | null;
  /** Under which the provider may have stored it, in formats that have this. */
  readonly responseId?: string | undefined;
}

/** An answer that is read while it passes. */
export interface StreamReading extends AnswerReading {
  /** True if the stream's own end mark was read: nothing after it matters. */
  readonly isDone: boolean;
  /** True if the answer reached its end: the end mark, or every choice's finish, or the upstream's own error. */
  readonly isComplete: boolean;
  /** The bytes that it holds in memory. */
  readonly keptBytes: number;
  /** Takes bytes from the upstream and returns those for the caller, in order. The end mark is kept back. */
  push(chunk: Buffer): Buffer;
  /** The bytes that were kept back; to be called once, when there is nothing more to come. */
  end(): Buffer;
}

/** Reads the usage of an answer of which nothing is kept. */
export interface UsageReader {
  push(chunk: Buffer): void;
  /** The usage, once it has passed. */
  readonly usage: Usage | undefined;
}
