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
import { MAX_CATALOGUE_CHARACTERS } from './catalogue-size.ts';
import type { CatalogueIssue } from './read-catalogue.ts';
import { WrittenNumber } from './written-number.ts';

const MAX_DEPTH = 100;
// Each route may take its price from one shared anchor.
const MAX_ALIASES = 10_000;

/** A YAML document that knows the line and column of every path. */
export class CatalogueDocument {
  readonly #lines = new LineCounter();
  readonly #document;

  /** Throws CatalogueTooLargeError for a text that is too long or nested too deeply. */
  constructor(text: string) {
    if (text.length > MAX_CATALOGUE_CHARACTERS) {
      throw new CatalogueTooLargeError(
        `is too large; at most ${MAX_CATALOGUE_CHARACTERS} characters are read`,
        0,
        text,
      );
    }
    const tooDeep = offsetOfExcessiveDepth(text);
    if (tooDeep !== undefined)
      throw new CatalogueTooLargeError(`is nested deeper than ${MAX_DEPTH} levels`, tooDeep, text);
    this.#document = parseDocument(text, {
      lineCounter: this.#lines,
      // The library compares every name with every other; `repeatedNames` is linear.
      uniqueKeys: false,
      prettyErrors: false,
      // With merge keys, one line could define many members, and an issue would have no line of its own.
      merge: false,
    });
  }

  /** Syntax errors, or a document that is neither mapping nor list. Such a file is not checked further. */
  syntaxIssues(): CatalogueIssue[] {
    const { errors, warnings, contents } = this.#document;
    const issues = [...errors, ...warnings].map(({ message, pos }) => this.#at(pos[0], [], message));
    if (issues.length === 0 && !isCollection(contents)) {
      issues.push(this.#at(contents?.range?.[0] ?? 0, [], 'must have providers and routes'));
    }
    return issues;
  }

  /** Names that occur twice in one mapping. */
  repeatedNames(): CatalogueIssue[] {
    const found: CatalogueIssue[] = [];
    visit(this.#document, {
      Map: (_key, { items }) => {
        const seen = new Set<unknown>();
        for (const { key } of items) {
          if (!isScalar(key)) continue;
          if (seen.has(key.value)) {
            const name = JSON.stringify(key.value);
            found.push(this.#at(key.range?.[0] ?? 0, [], `${name} is repeated; names must be unique`));
          }
          seen.add(key.value);
        }
      },
    });
    return found;
  }

  /** The value, with exact numbers kept as written. Throws CatalogueTooLargeError for too many aliases. */
  value(): unknown {
    const routes = this.#document.get('routes');
    for (const route of isSeq(routes) ? routes.items : []) {
      if (!isMap(route)) continue;
      keepPricesAsWritten(route);
      const targets = pairOf(route, 'targets')?.value;
      for (const target of isSeq(targets) ? targets.items : [])
        if (isMap(target)) keepPricesAsWritten(target);
    }
    try {
      return this.#document.toJS({ maxAliasCount: MAX_ALIASES });
    } catch (error) {
      if (!(error instanceof ReferenceError)) throw error;
      throw new CatalogueTooLargeError(`has more than ${MAX_ALIASES} aliases after expansion`, 0, '');
    }
  }

  /** True if the path exists; its value may be null. */
  has(path: readonly PropertyKey[]): boolean {
    return this.#document.hasIn(path);
  }

  /** An issue at the path's line and column. `atKey` points to the name instead of the value. */
  issue(path: readonly PropertyKey[], message: string, atKey = false): CatalogueIssue {
    // A missing member is reported at its nearest existing parent.
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

  #at(offset: number, path: readonly PropertyKey[], message: string): CatalogueIssue {
    const { line, col } = this.#lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1), path: path.join('.'), message };
  }
}

/** The text, or what its aliases expand to, exceeds the limits of a catalogue. */
export class CatalogueTooLargeError extends Error {
  override readonly name = 'CatalogueTooLargeError';
  readonly issue: CatalogueIssue;

  constructor(message: string, offset: number, text: string) {
    super(message);
    const before = text.slice(0, offset).split('\n');
    const column = (before.at(-1)?.length ?? 0) + 1;
    this.issue = { line: before.length, column, path: '', message };
  }
}

// YAML nests by brackets and by block markers at the start of a line. Brackets in quotes count too, which is harmless:
// no valid catalogue has a hundred of them.
function offsetOfExcessiveDepth(text: string): number | undefined {
  let depth = 0;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (character === '[' || character === '{') depth += 1;
    else if ((character === ']' || character === '}') && depth > 0) depth -= 1;
    if (depth > MAX_DEPTH) return index;
  }
  const markers = new RegExp(`^(?:[ \\t]*[-?][ \\t]){${MAX_DEPTH}}`, 'm').exec(text);
  return markers?.index;
}

/** The prices of a route or of a target. */
function keepPricesAsWritten(members: YAMLMap): void {
  keepAsWritten(pairOf(members, 'byok_fee_percent'));
  const price = pairOf(members, 'price_pkr_per_million')?.value;
  const tiers = isMap(price) ? pairOf(price, 'tiers')?.value : undefined;
  const calls = pairOf(members, 'price_pkr_per_call')?.value;
  for (const prices of [price, calls, ...(isSeq(tiers) ? tiers.items : [])]) {
    if (isMap(prices)) for (const pair of prices.items) keepAsWritten(pair);
  }
}

function pairOf(map: YAMLMap, name: string): Pair | undefined {
  return map.items.find(({ key }) => isScalar(key) && String(key.value) === name);
}

// A member beside prices that is a count of tokens, not an amount.
const COUNTS = new Set<unknown>(['above_prompt_tokens']);

function keepAsWritten(pair: Pair | undefined): void {
  const scalar = pair?.value;
  if (!isScalar(scalar) || (isScalar(pair?.key) && COUNTS.has(pair.key.value))) return;
  if (typeof scalar.value !== 'number' && typeof scalar.value !== 'bigint') return;
  (scalar as Scalar).value = new WrittenNumber(scalar.source ?? String(scalar.value));
}
