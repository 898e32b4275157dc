import type { JsonObject } from '../../json.ts';
import type { StreamEvent } from '../stream-events.ts';
import { sealOfDetails, textOfDetails } from './reasoning.ts';

const MAX_DETAILS = 256;
const MAX_CHARACTERS = 512 * 1024;
/** Members that come in pieces. */
const PIECEWISE = ['text', 'summary', 'data', 'signature'] as const;

/** The `reasoning_details` of a stream, put together so that the provider can be sent them back. */
export class ReasoningDetails {
  #details: Record<string, unknown>[] = [];
  #characters = 0;
  #isTooLarge = false;

  get keptBytes(): number {
    return 2 * this.#characters;
  }

  textOf(details: readonly JsonObject[]): string {
    return textOfDetails(details);
  }

  add(details: readonly JsonObject[]): void {
    for (const detail of details) {
      for (const name of PIECEWISE) this.#characters += lengthOf(detail[name]);
      const last = this.#details.at(-1);
      const continues = last && last['type'] === detail['type'] && last['index'] === detail['index'];
      if (!continues) this.#details.push({});
      this.#isTooLarge ||= this.#characters > MAX_CHARACTERS || this.#details.length > MAX_DETAILS;
      if (this.#isTooLarge) {
        // What is left of it would be refused by its maker.
        this.#details = [];
        this.#characters = 0;
        return;
      }
      continueWith(this.#details.at(-1) ?? {}, detail);
    }
  }

  /** The seal that the provider wants back for the reasoning that has ended. */
  takeSeal(): StreamEvent[] {
    const seal = this.#isTooLarge ? undefined : sealOfDetails(this.#details);
    this.#details = [];
    this.#characters = 0;
    return seal ? [{ type: 'seal', seal }] : [];
  }
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

function lengthOf(value: unknown): number {
  return typeof value === 'string' ? value.length : 0;
}
