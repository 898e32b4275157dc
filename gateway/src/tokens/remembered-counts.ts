import { hash } from 'node:crypto';

// An agent sends its instructions, its tools and all earlier messages with every turn, and counting them takes a hundred
// times as long as hashing them. So the counts of pieces of texts are remembered, by their digests: no text is kept. They are
// remembered for each organisation alone, because a count that takes no time tells that the text was sent before.

/** Shorter texts are counted about as fast as they are looked up. */
const SHORTEST_CHARACTERS = 256;
/** Of 64 million characters at most: some eight megabytes in each thread that counts. */
const MOST_COUNTS = 65_536;

/** The counts of one organisation's texts. */
export interface CountMemory {
  find(text: string): number | undefined;
  keep(text: string, tokens: number): void;
}

export class RememberedCounts {
  readonly #most: number;
  /** The least recently used come first. */
  readonly #counts = new Map<string, number>();

  constructor(most = MOST_COUNTS) {
    this.#most = most;
  }

  get size(): number {
    return this.#counts.size;
  }

  of(owner: string): CountMemory {
    // Between a miss and its count nothing else is asked for.
    let latest: { readonly text: string; readonly name: string } | undefined;
    const nameOf = (text: string) => {
      if (latest?.text !== text) latest = { text, name: hash('sha256', `${owner}\0${text}`, 'base64url') };
      return latest.name;
    };
    return {
      find: (text) => {
        if (text.length < SHORTEST_CHARACTERS) return undefined;
        const name = nameOf(text);
        const tokens = this.#counts.get(name);
        if (tokens === undefined) return undefined;
        this.#counts.delete(name);
        this.#counts.set(name, tokens);
        return tokens;
      },
      keep: (text, tokens) => {
        if (text.length < SHORTEST_CHARACTERS) return;
        this.#counts.set(nameOf(text), tokens);
        if (this.#counts.size <= this.#most) return;
        const [oldest] = this.#counts.keys();
        if (oldest !== undefined) this.#counts.delete(oldest);
      },
    };
  }
}

/** Those of this thread. */
export const rememberedCounts = new RememberedCounts();
