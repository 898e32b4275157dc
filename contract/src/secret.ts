// `inspect.custom` of node:util, which a browser does not have.
const INSPECT = Symbol.for('nodejs.util.inspect.custom');

/**
 * Text that must not be seen: printed, logged or serialised it is `[secret]`. Only `reveal` returns the text, so a search
 * for that word finds every place that reads it. Guarded by secret.test.ts.
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

  [INSPECT](): string {
    return '[secret]';
  }
}
