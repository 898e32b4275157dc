import { isCollection, isMap, isScalar, LineCounter, type Node, parseDocument, visit } from 'yaml';
import type { z } from 'zod';
import {
  type Catalogue,
  CatalogueFile,
  contradictions,
  isExactNumber,
  membersAt,
  WrittenNumber,
} from './catalogue-file.ts';

/** One thing that is wrong with a catalogue file. Lines and columns count from 1. */
export interface CatalogueMistake {
  readonly line: number;
  readonly column: number;
  /** The member, as `routes.0.timeout_ms`; empty for the file as a whole. */
  readonly path: string;
  readonly message: string;
}

/** A catalogue file says something that cannot be used. The message names the first mistake; the others are beside it. */
export class CatalogueFault extends Error {
  override readonly name = 'CatalogueFault';
  /** In the order of the file. */
  readonly mistakes: readonly CatalogueMistake[];

  constructor(source: string, mistakes: readonly CatalogueMistake[]) {
    const [first, ...others] = mistakes;
    const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
    super(first ? `${source} ${inWords(first)}${more}` : `${source} cannot be used`);
    this.mistakes = mistakes;
  }
}

function inWords({ line, column, path, message }: CatalogueMistake): string {
  return `line ${line} column ${column}${path && ` (${path})`}: ${message}`;
}

/** Reads a catalogue file's text. Throws CatalogueFault, naming `source` and every mistake, for anything unusable. */
export function readCatalogue(text: string, source: string): Catalogue {
  const file = new PlacedDocument(text);
  const syntax = file.syntaxMistakes();
  if (syntax.length > 0) throw new CatalogueFault(source, syntax);
  const result = CatalogueFile.safeParse(file.value());
  const mistakes = result.success
    ? contradictions(result.data).map(({ path, message }) => file.mistake(path, message))
    : result.error.issues.flatMap((issue) => mistakesOf(issue, file));
  if (result.success && mistakes.length === 0) return result.data;
  throw new CatalogueFault(
    source,
    mistakes.toSorted((a, b) => a.line - b.line || a.column - b.column),
  );
}

/** A YAML document that knows where everything stands. */
class PlacedDocument {
  readonly #lines = new LineCounter();
  readonly #document;

  constructor(text: string) {
    this.#document = parseDocument(text, {
      lineCounter: this.#lines,
      uniqueKeys: true,
      prettyErrors: false,
      // Merging would let one line stand for many, and a mistake would have no place of its own.
      merge: false,
    });
  }

  syntaxMistakes(): CatalogueMistake[] {
    const { errors, warnings, contents } = this.#document;
    const mistakes = [...errors, ...warnings].map(({ message, pos }) => this.#at(pos[0], [], message));
    if (mistakes.length === 0 && !isCollection(contents)) {
      mistakes.push(this.#at(contents?.range?.[0] ?? 0, [], 'must have providers and routes'));
    }
    return mistakes;
  }

  /** What it says, with the numbers that must be exact as they are written. */
  value(): unknown {
    visit(this.#document, {
      Scalar: (_key, node, ancestors) => {
        if (typeof node.value !== 'number' && typeof node.value !== 'bigint') return;
        if (isExactNumber(this.#pathOf(node, ancestors))) {
          node.value = new WrittenNumber(node.source ?? String(node.value));
        }
      },
    });
    return this.#document.toJS();
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
      const pair = parent.items.find(({ key }) => isScalar(key) && String(key.value) === String(path.at(-1)));
      return (pair?.key as Node | undefined)?.range?.[0];
    }
    return (this.#document.getIn(path, true) as Node | undefined)?.range?.[0];
  }

  #at(offset: number, path: readonly PropertyKey[], message: string): CatalogueMistake {
    const { line, col } = this.#lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1), path: path.join('.'), message };
  }

  #pathOf(node: Node, ancestors: readonly unknown[]): PropertyKey[] {
    const chain = [...ancestors, node];
    return chain.flatMap((one, index): PropertyKey[] => {
      const parent = chain[index - 1];
      if (isCollection(parent) && !isMap(parent)) return [parent.items.indexOf(one)];
      const pair = one as { readonly key?: unknown };
      return isMap(parent) && isScalar(pair.key) ? [String(pair.key.value)] : [];
    });
  }
}

const TYPE_WORDS: Readonly<Record<string, string>> = {
  string: 'text (in quotes where it looks like a number or a word of YAML)',
  int: 'a whole number',
  number: 'a number',
  WrittenNumber: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping of members',
  record: 'a mapping of members',
};

function mistakesOf(issue: z.core.$ZodIssue, file: PlacedDocument): CatalogueMistake[] {
  const { path } = issue;
  switch (issue.code) {
    case 'unrecognized_keys': {
      const accepted = membersAt(path)?.join(', ') ?? 'none';
      return issue.keys.map((key) =>
        file.mistake([...path, key], `is not known here; accepted are ${accepted}`, true),
      );
    }
    case 'invalid_key':
      return [file.mistake(path, issue.issues[0]?.message ?? issue.message, true)];
    default:
      return [file.mistake(path, file.has(path) ? wordsFor(issue) : `is missing; ${wordsFor(issue)}`)];
  }
}

function wordsFor(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${TYPE_WORDS[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `must be ${issue.values.join(' or ')}`;
    case 'too_small':
      return issue.origin === 'array' ? 'must not be empty' : `must be at least ${issue.minimum}`;
    case 'too_big':
      return `must be at most ${issue.maximum}`;
    default:
      return issue.message;
  }
}
