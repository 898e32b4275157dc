import { randomFrom } from '../journal/testing/random.ts';

/** Writes JSON in every spelling that the format allows, determined by a seed. */
export class RandomJson {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = randomFrom(seed);
  }

  /** True this often. */
  chance(share: number): boolean {
    return this.#random() < share;
  }

  one<T>(options: readonly T[]): T {
    return options[Math.floor(this.#random() * options.length)] as T;
  }

  space(): string {
    return this.one(['', '', '', ' ', '\n', '\t\r\n  ']);
  }

  string(text: string): string {
    const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
    return this.#random() < 0.1 ? `"${text.replace(/[a-z]/, escaped)}"` : JSON.stringify(text);
  }

  /** Any value. The members of its objects have names that matter elsewhere. */
  value(depth = 0): string {
    const leaf = () =>
      this.one(['9007199254740993', '1.0', '-0', '1E400', 'true', 'null', '"é☕\\"}],:{["', '"\\\\"', '""']);
    if (depth > 3 || this.#random() < 0.5) return leaf();
    const items = Array.from({ length: this.one([0, 1, 2, 3]) }, () => this.value(depth + 1));
    return this.#random() < 0.5
      ? `[${this.space()}${items.join(`${this.space()},`)}${this.space()}]`
      : this.object(items.map((item, index) => [this.one(['model', 'max_tokens', 'x']) + index, item]));
  }

  object(members: readonly (readonly [name: string, json: string])[]): string {
    const written = members.map(
      ([name, json]) =>
        `${this.space()}${this.string(name)}${this.space()}:${this.space()}${json}${this.space()}`,
    );
    return `{${written.join(',') || this.space()}}`;
  }

  shuffled<T>(items: readonly T[]): T[] {
    return items
      .map((item) => [this.#random(), item] as const)
      .sort(([a], [b]) => a - b)
      .map(([, item]) => item);
  }

  /** About half of the members. */
  some<Member>(...members: readonly Member[]): Member[] {
    return members.filter(() => this.#random() < 0.5);
  }
}
