import type { CountTokens, StreamReading, Usage } from './protocol.ts';
import type { StreamTranslator } from './translation/index.ts';

/**
 * A stream on its way to a caller that speaks another format. The provider's format reads it, for its usage and without
 * the provider's credential; what passes there is translated event by event.
 */
export class TranslatedStream implements StreamReading {
  readonly #inner: StreamReading;
  readonly #translator: StreamTranslator;
  /** True if the provider ended its stream without saying how its answer ends, so that the caller's has no end. */
  #isCutShort = false;

  /** `inner` must show the usage, which the translator puts where the caller's format has it. */
  constructor(inner: StreamReading, translator: StreamTranslator) {
    this.#inner = inner;
    this.#translator = translator;
  }

  get usage(): Usage | undefined {
    return this.#inner.usage;
  }

  get isUsageFinal(): boolean {
    return this.#inner.isUsageFinal;
  }

  get hasContent(): boolean {
    return this.#inner.hasContent;
  }

  get hasReasoning(): boolean {
    return this.#inner.hasReasoning;
  }

  get upstreamError(): string | null {
    return this.#inner.upstreamError;
  }

  get isDone(): boolean {
    return this.#inner.isDone;
  }

  get isComplete(): boolean {
    return this.#inner.isComplete && !this.#isCutShort;
  }

  get keptBytes(): number {
    return this.#inner.keptBytes + this.#translator.keptBytes;
  }

  countGenerated(count: CountTokens): Promise<number> {
    return this.#inner.countGenerated(count);
  }

  push(chunk: Buffer): Buffer {
    return this.#translator.push(this.#inner.push(chunk));
  }

  /** The caller's end mark is in here, and nowhere before. */
  end(): Buffer {
    const rest = this.#translator.push(this.#inner.end());
    const last = this.#translator.end();
    this.#isCutShort = last.length === 0 && this.#inner.upstreamError === null;
    return Buffer.concat([rest, last]);
  }

  /** An event that keeps a silent stream alive. */
  ping(): Buffer {
    return this.#translator.ping();
  }
}
