import { BodyError } from '../call.ts';
import {
  type Direction,
  type Feature,
  nameOf,
  pathOf,
  type TranslatedFormat,
  treatmentOf,
} from './feature-table.ts';

// As many as a header can name. Callers that send more have sent something else than a request for an answer.
const MAX_NAMED = 32;
const MAX_PATH_LENGTH = 64;

const NAMES: Readonly<Record<TranslatedFormat, string>> = {
  chat: 'OpenAI chat completions',
  messages: 'Anthropic messages',
  responses: 'OpenAI responses',
};

/** The losses of a request on its way into another format. */
export class Losses {
  /** The caller's format. */
  readonly from: TranslatedFormat;
  readonly #direction: Direction;
  readonly #to: TranslatedFormat;
  readonly #dropped = new Set<string>();
  #isCut = false;

  constructor(from: TranslatedFormat, to: TranslatedFormat) {
    this.from = from;
    this.#direction = `${from} to ${to}`;
    this.#to = to;
  }

  /** The paths of what was dropped, each once, fit for a header; after the first 32 `...` stands for the rest. */
  get dropped(): readonly string[] {
    return this.#isCut ? [...this.#dropped, '...'] : [...this.#dropped];
  }

  /**
   * Records that the feature at this path of the caller's body is not sent; without a path, by the feature's name in the
   * caller's format. Throws a BodyError that names the path if the feature table refuses the feature.
   */
  lose(feature: Feature, path: string = pathOf(feature, this.from)): void {
    const named = headerPath(path);
    if (treatmentOf(feature, this.#direction) === 'refused') {
      throw new BodyError(
        `${named} cannot be sent to this model: its provider speaks ${NAMES[this.#to]}, which has nothing for it (${nameOf(feature)}).`,
        named,
      );
    }
    if (this.#dropped.size < MAX_NAMED) this.#dropped.add(named);
    else if (!this.#dropped.has(named)) this.#isCut = true;
  }
}

/** The path in printable ASCII: callers choose the names of members and tools. */
function headerPath(path: string): string {
  return path.slice(0, MAX_PATH_LENGTH).replaceAll(/[^\x21-\x2b\x2d-\x7e]/g, '?');
}
