import { GeneratedText } from './generated-text.ts';
import type { CountTokens, Usage } from './protocol.ts';

/** The kind of something that a model produced; plain text unless it says otherwise. */
export interface SpokenKind {
  readonly isReasoning?: boolean;
  /** False where it is sealed: its length says nothing of the tokens. */
  readonly isCounted?: boolean;
}

const PLAIN: SpokenKind = {};

/** The facts of an answer, as far as it was read: what the provider said of it, and what was generated. */
export class AnswerTally {
  readonly generated = new GeneratedText();
  usage: Usage | undefined;
  isUsageFinal = false;
  upstreamError: string | null = null;
  hasContent = false;
  hasReasoning = false;
  /** Under which the provider may have stored the answer, in formats that have this. */
  responseId: string | undefined;
  readonly #keepsText: boolean;

  /** `keepsText` is false where the usage says already how much was generated. */
  constructor(keepsText = true) {
    this.#keepsText = keepsText;
  }

  /** Something that was generated. `voice` names the text that it continues: a token never spans two. */
  hear(voice: string, text: string, { isReasoning = false, isCounted = true }: SpokenKind = PLAIN): void {
    if (text === '') return;
    this.hasContent = true;
    this.hasReasoning ||= isReasoning;
    // While a stream goes on, it may say another.
    this.isUsageFinal = false;
    if (isCounted && this.#keepsText) this.generated.append(voice, text);
  }

  countGenerated(count: CountTokens): Promise<number> {
    return this.generated.countTokens(count);
  }
}
