import { countTokens } from '../tokens/count-tokens.ts';

const KEPT_CHARACTERS = 4_000_000;

/** What a model has produced so far, kept only to count its tokens if the upstream does not say how many. */
export class GeneratedText {
  // By voice: the pieces of two choices arrive interleaved, and a token never spans them.
  readonly #voices = new Map<string, string[]>();
  #characters = 0;
  // Past what is kept: no token is shorter than a byte.
  #bytesBeyond = 0;

  get isEmpty(): boolean {
    return this.#characters === 0;
  }

  append(voice: string, text: string): void {
    if (text === '') return;
    this.#characters += text.length;
    if (this.#characters > KEPT_CHARACTERS) {
      this.#bytesBeyond += Buffer.byteLength(text);
      return;
    }
    const pieces = this.#voices.get(voice);
    if (pieces) pieces.push(text);
    else this.#voices.set(voice, [text]);
  }

  async countTokens(): Promise<number> {
    const texts = Iterator.from(this.#voices.values()).map((pieces) => pieces.join(''));
    return (await countTokens(texts)) + this.#bytesBeyond;
  }
}
