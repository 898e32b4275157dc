import type { JsonObject } from '../../wire/json.ts';
import type { ReasoningSeal } from '../translation/conversation.ts';
import { type ChatPiece, shownDetail } from './pieces.ts';
import { plainSeal, sealOfDetails } from './reasoning.ts';

const MAX_DETAILS = 256;
const MAX_CHARACTERS = 512 * 1024;
/** Members that come in pieces. */
const PIECEWISE = ['text', 'summary', 'data', 'signature'] as const;

/** The reasoning of a stream, put together so that the provider can be sent it back: `reasoning_details`, or its plain text. */
export class StreamedReasoning {
  readonly #keepsReasoning: boolean;
  #plain: string[] = [];
  #details: Record<string, unknown>[] = [];
  #characters = 0;
  #isTooLarge = false;

  /** `keepsReasoning` says that the provider wants the plain text back. */
  constructor(keepsReasoning: boolean) {
    this.#keepsReasoning = keepsReasoning;
  }

  get keptBytes(): number {
    return 2 * this.#characters;
  }

  /** Takes the reasoning of one piece of a message and returns its readable text. */
  add({ reasoning, details }: Pick<ChatPiece, 'reasoning' | 'details'>): string {
    this.#addDetails(details);
    if (this.#keepsReasoning && reasoning !== '' && !this.#isTooLarge) this.#addPlain(reasoning);
    return reasoning || details.map(shownDetail).join('');
  }

  #addPlain(text: string): void {
    this.#plain.push(text);
    this.#characters += text.length;
    if (this.#characters > MAX_CHARACTERS) this.#drop();
  }

  #addDetails(details: readonly JsonObject[]): void {
    for (const detail of details) {
      for (const name of PIECEWISE) this.#characters += lengthOf(detail[name]);
      const last = this.#details.at(-1);
      const continues = last && last['type'] === detail['type'] && last['index'] === detail['index'];
      if (!continues) this.#details.push({});
      if (this.#isTooLarge || this.#characters > MAX_CHARACTERS || this.#details.length > MAX_DETAILS) {
        this.#drop();
        return;
      }
      continueWith(this.#details.at(-1) ?? {}, detail);
    }
  }

  /** The seal that the provider wants back for the reasoning that has ended. */
  takeSeal(): ReasoningSeal | undefined {
    if (this.#characters === 0 && this.#details.length === 0) return undefined;
    const seal = this.#isTooLarge
      ? undefined
      : (sealOfDetails(this.#details) ?? plainSeal(this.#plain.join(''), this.#keepsReasoning));
    this.#details = [];
    this.#plain = [];
    this.#characters = 0;
    return seal;
  }

  /** Drops all of it: a part would be refused by its maker. */
  #drop(): void {
    this.#isTooLarge = true;
    this.#details = [];
    this.#plain = [];
    this.#characters = 0;
  }
}

function lengthOf(value: unknown): number {
  return typeof value === 'string' ? value.length : 0;
}

function continueWith(kept: Record<string, unknown>, detail: JsonObject): void {
  for (const name of ['type', 'format', 'id', 'index']) {
    const value = detail[name];
    if (typeof value === 'string' || typeof value === 'number') kept[name] = value;
  }
  for (const name of PIECEWISE) {
    const piece = detail[name];
    if (typeof piece !== 'string' || piece === '') continue;
    const before = kept[name];
    kept[name] = typeof before === 'string' ? before + piece : piece;
  }
}
