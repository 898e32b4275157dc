import { inspect } from 'node:util';

/**
 * Text that must not be seen: whatever prints, logs or serialises it gets `[secret]`. Only `reveal` gives it away,
 * so every place where that can happen is found by searching for the word. Guarded by secret.test.ts.
 */
export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  reveal(): string {
    return this.#text;
  }

  toString(): string {
    return '[secret]';
  }

  toJSON(): string {
    return '[secret]';
  }

  [inspect.custom](): string {
    return '[secret]';
  }
}
