import type { z } from 'zod';
import { type Catalogue, CatalogueFile, membersAt } from './catalogue-file.ts';
import { contradictions } from './contradictions.ts';
import { PlacedDocument, TooMuch } from './placed-document.ts';

// Past this many the rest would be read by nobody, and to place each takes its time.
const MOST_MISTAKES = 1_000;

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

/**
 * Reads a catalogue file's text. Throws CatalogueFault for anything unusable, naming `source` and every mistake: those of
 * single members and those between members alike. Only where it is no YAML, that is all that is said.
 */
export function readCatalogue(text: string, source: string): Catalogue {
  try {
    const file = new PlacedDocument(text);
    const syntax = file.syntaxMistakes();
    if (syntax.length > 0) throw faultOf(source, syntax);
    const value = file.value();
    const result = CatalogueFile.safeParse(value);
    const mistakes = [
      ...file.repeatedNames(),
      ...(result.error?.issues ?? []).slice(0, MOST_MISTAKES).flatMap((issue) => mistakesOf(issue, file)),
      ...contradictions(value)
        .slice(0, MOST_MISTAKES)
        .map(({ path, message }) => file.mistake(path, message)),
    ];
    if (result.success && mistakes.length === 0) return result.data;
    throw faultOf(source, mistakes);
  } catch (error) {
    throw error instanceof TooMuch ? new CatalogueFault(source, [error.mistake]) : error;
  }
}

function faultOf(source: string, mistakes: readonly CatalogueMistake[]): CatalogueFault {
  const inOrder = mistakes.toSorted((a, b) => a.line - b.line || a.column - b.column);
  return new CatalogueFault(source, inOrder.slice(0, MOST_MISTAKES));
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
      return issue.keys
        .slice(0, MOST_MISTAKES)
        .map((key) => file.mistake([...path, key], `is not known here; accepted are ${accepted}`, true));
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
