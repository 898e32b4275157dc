import type { CountTokens } from './protocol.ts';

// As much as is counted exactly; of what lies beyond, the bytes count.
const KEPT_CHARACTERS = 1_000_000;
const MAX_VOICES = 4_096;
// Pieces are a token long each. So many are joined into one string, which takes a tenth of the memory.
const PIECES_PER_STRING = 256;

interface Voice {
  readonly joined: string[];
  pieces: string[];
}

/** The text that a model has produced so far, kept only to count its tokens if the upstream does not say how many. */
export class GeneratedText {
  // By voice: the pieces of two choices arrive interleaved, and a token never spans them.
  readonly #voices = new Map<string, Voice>();
  #characters = 0;
  // Past what is kept: no token is shorter than a byte.
  #bytesBeyond = 0;

  get isEmpty(): boolean {
    return this.#characters === 0;
  }

  /** The bytes that it holds in memory, at most: two a character. */
  get keptBytes(): number {
    return 2 * Math.min(this.#characters, KEPT_CHARACTERS);
  }

  append(voiceName: string, text: string): void {
    if (text === '') return;
    this.#characters += text.length;
    const voice = this.#voiceOf(voiceName);
    if (!voice || this.#characters > KEPT_CHARACTERS) {
      this.#bytesBeyond += Buffer.byteLength(text);
      return;
    }
    voice.pieces.push(text);
    if (voice.pieces.length < PIECES_PER_STRING) return;
    voice.joined.push(voice.pieces.join(''));
    voice.pieces = [];
  }

  /** The tokens of what was appended before the call. */
  async countTokens(count: CountTokens): Promise<number> {
    const texts = Array.from(this.#voices.values(), ({ joined, pieces }) => [...joined, ...pieces].join(''));
    const beyond = this.#bytesBeyond;
    return (await count(texts)) + beyond;
  }

  #voiceOf(name: string): Voice | undefined {
    const existing = this.#voices.get(name);
    if (existing || this.#voices.size >= MAX_VOICES) return existing;
    const voice = { joined: [], pieces: [] };
    this.#voices.set(name, voice);
    return voice;
  }
}
