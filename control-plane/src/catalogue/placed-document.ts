import {
  isCollection,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  type Scalar,
  visit,
  type YAMLMap,
} from 'yaml';
import { WrittenNumber } from './catalogue-file.ts';
import type { CatalogueMistake } from './read-catalogue.ts';

// Some thousand routes. A file is read whole and each of its mistakes is placed, so there is an end to both.
export const MOST_CATALOGUE_CHARACTERS = 1024 * 1024;
const MOST_DEPTH = 100;
// Each route may take its price from one place of the file.
const MOST_ALIASES = 10_000;

/** A YAML document that knows where everything stands. */
export class PlacedDocument {
  readonly #lines = new LineCounter();
  readonly #document;

  /** Throws a TooMuch for a text that is not worth reading. */
  constructor(text: string) {
    if (text.length > MOST_CATALOGUE_CHARACTERS) {
      throw new TooMuch(`is too large; at most ${MOST_CATALOGUE_CHARACTERS} characters are read`, 0, text);
    }
    const tooDeep = placeOfDepth(text);
    if (tooDeep !== undefined) throw new TooMuch(`is nested deeper than ${MOST_DEPTH} levels`, tooDeep, text);
    this.#document = parseDocument(text, {
      lineCounter: this.#lines,
      // Compares each name with each; `repeatedNames` does not.
      uniqueKeys: false,
      prettyErrors: false,
      // Merging would let one line stand for many, and a mistake would have no place of its own.
      merge: false,
    });
  }

  /** What is no YAML, or no mapping or list. Nothing else can be said of such a file. */
  syntaxMistakes(): CatalogueMistake[] {
    const { errors, warnings, contents } = this.#document;
    const mistakes = [...errors, ...warnings].map(({ message, pos }) => this.#at(pos[0], [], message));
    if (mistakes.length === 0 && !isCollection(contents)) {
      mistakes.push(this.#at(contents?.range?.[0] ?? 0, [], 'must have providers and routes'));
    }
    return mistakes;
  }

  /** The names that stand in a mapping that has them already. */
  repeatedNames(): CatalogueMistake[] {
    const found: CatalogueMistake[] = [];
    visit(this.#document, {
      Map: (_key, { items }) => {
        const seen = new Set<unknown>();
        for (const { key } of items) {
          if (!isScalar(key)) continue;
          if (seen.has(key.value)) {
            const name = JSON.stringify(key.value);
            found.push(this.#at(key.range?.[0] ?? 0, [], `${name} stands here again; names must be unique`));
          }
          seen.add(key.value);
        }
      },
    });
    return found;
  }

  /** What it says, with the numbers that must be exact as they are written. Throws a TooMuch for too many aliases. */
  value(): unknown {
    const routes = this.#document.get('routes');
    for (const route of isSeq(routes) ? routes.items : []) {
      if (!isMap(route)) continue;
      keepWritten(pairOf(route, 'byok_fee_percent'));
      const price = pairOf(route, 'price_pkr_per_million')?.value;
      if (isMap(price)) for (const pair of price.items) keepWritten(pair);
    }
    try {
      return this.#document.toJS({ maxAliasCount: MOST_ALIASES });
    } catch (error) {
      if (!(error instanceof ReferenceError)) throw error;
      throw new TooMuch(`has more than ${MOST_ALIASES} aliases, counted as they unfold`, 0, '');
    }
  }

  /** Whether there is anything at the place, be it null. */
  has(path: readonly PropertyKey[]): boolean {
    return this.#document.hasIn(path);
  }

  mistake(path: readonly PropertyKey[], message: string, atKey = false): CatalogueMistake {
    // A missing member has no place of its own; its nearest parent that exists does.
    for (let depth = path.length; depth >= 0; depth -= 1) {
      const start = this.#startOf(path.slice(0, depth), atKey);
      if (start !== undefined) return this.#at(start, path, message);
    }
    return this.#at(0, path, message);
  }

  #startOf(path: readonly PropertyKey[], atKey: boolean): number | undefined {
    if (path.length === 0) return this.#document.contents?.range?.[0];
    const parent =
      path.length === 1 ? this.#document.contents : this.#document.getIn(path.slice(0, -1), true);
    if (atKey && isMap(parent)) {
      return (pairOf(parent, String(path.at(-1)))?.key as Node | undefined)?.range?.[0];
    }
    return (this.#document.getIn(path, true) as Node | undefined)?.range?.[0];
  }

  #at(offset: number, path: readonly PropertyKey[], message: string): CatalogueMistake {
    const { line, col } = this.#lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1), path: path.join('.'), message };
  }
}

/** A text that is larger, or unfolds to more, than a catalogue can be. */
export class TooMuch extends Error {
  override readonly name = 'TooMuch';
  readonly mistake: CatalogueMistake;

  constructor(message: string, offset: number, text: string) {
    super(message);
    const before = text.slice(0, offset).split('\n');
    const column = (before.at(-1)?.length ?? 0) + 1;
    this.mistake = { line: before.length, column, path: '', message };
  }
}

// YAML nests by brackets and by marks at the beginning of a line. What is quoted counts as well: it has no hundred.
function placeOfDepth(text: string): number | undefined {
  let depth = 0;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (character === '[' || character === '{') depth += 1;
    else if ((character === ']' || character === '}') && depth > 0) depth -= 1;
    if (depth > MOST_DEPTH) return index;
  }
  const marks = new RegExp(`^(?:[ \\t]*[-?][ \\t]){${MOST_DEPTH}}`, 'm').exec(text);
  return marks?.index;
}

function pairOf(map: YAMLMap, name: string): Pair | undefined {
  return map.items.find(({ key }) => isScalar(key) && String(key.value) === name);
}

function keepWritten(pair: Pair | undefined): void {
  const scalar = pair?.value;
  if (!isScalar(scalar)) return;
  if (typeof scalar.value !== 'number' && typeof scalar.value !== 'bigint') return;
  (scalar as Scalar).value = new WrittenNumber(scalar.source ?? String(scalar.value));
}
