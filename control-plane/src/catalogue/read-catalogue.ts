import type { z } from 'zod';
import { CatalogueDocument, CatalogueTooLargeError } from './catalogue-document.ts';
import { type Catalogue, CatalogueFile, membersAt } from './catalogue-file.ts';
import { findInconsistencies } from './consistency.ts';

// Locating an issue takes time, so a file with more is reported in part.
const MAX_ISSUES = 1_000;

/** One issue of a catalogue file. Lines and columns count from 1. */
export interface CatalogueIssue {
  readonly line: number;
  readonly column: number;
  /** The member, as `routes.0.timeout_ms`; empty for the file as a whole. */
  readonly path: string;
  readonly message: string;
}

/** The catalogue file is invalid. The message names the first issue; `issues` has all of them. */
export class CatalogueError extends Error {
  override readonly name = 'CatalogueError';
  /** In the order of the file. */
  readonly issues: readonly CatalogueIssue[];

  constructor(source: string, issues: readonly CatalogueIssue[]) {
    const [first, ...others] = issues;
    const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
    super(first ? `${source} ${issueText(first)}${more}` : `${source} cannot be used`);
    this.issues = issues;
  }
}

/** One line: `line 12 column 5 (routes.0.timeout): is not a known member`. */
export function issueText({ line, column, path, message }: CatalogueIssue): string {
  return `line ${line} column ${column}${path && ` (${path})`}: ${message}`;
}

/**
 * Reads a catalogue file's text. Throws CatalogueError for an invalid file, naming `source` and every issue, both of
 * single members and between members. For text that is not YAML, only the syntax errors are reported.
 */
export function readCatalogue(text: string, source: string): Catalogue {
  try {
    const file = new CatalogueDocument(text);
    const syntax = file.syntaxIssues();
    if (syntax.length > 0) throw errorFor(source, syntax);
    const value = file.value();
    const result = CatalogueFile.safeParse(value);
    const issues = [
      ...file.repeatedNames(),
      ...(result.error?.issues ?? []).slice(0, MAX_ISSUES).flatMap((issue) => issuesOf(issue, file)),
      ...findInconsistencies(value)
        .slice(0, MAX_ISSUES)
        .map(({ path, message }) => file.issue(path, message)),
    ];
    if (result.success && issues.length === 0) return result.data;
    throw errorFor(source, issues);
  } catch (error) {
    throw error instanceof CatalogueTooLargeError ? new CatalogueError(source, [error.issue]) : error;
  }
}

function errorFor(source: string, issues: readonly CatalogueIssue[]): CatalogueError {
  const inOrder = issues.toSorted((a, b) => a.line - b.line || a.column - b.column);
  return new CatalogueError(source, inOrder.slice(0, MAX_ISSUES));
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'text (in quotes if it looks like a number or a YAML keyword)',
  int: 'a whole number',
  number: 'a number',
  WrittenNumber: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping of members',
  record: 'a mapping of members',
};

function issuesOf(issue: z.core.$ZodIssue, file: CatalogueDocument): CatalogueIssue[] {
  const { path } = issue;
  switch (issue.code) {
    case 'unrecognized_keys': {
      const accepted = membersAt(path)?.join(', ') ?? 'none';
      return issue.keys
        .slice(0, MAX_ISSUES)
        .map((key) => file.issue([...path, key], `is not a known member; accepted are ${accepted}`, true));
    }
    case 'invalid_key':
      return [file.issue(path, issue.issues[0]?.message ?? issue.message, true)];
    default:
      return [file.issue(path, file.has(path) ? describe(issue) : `is missing; ${describe(issue)}`)];
  }
}

function describe(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${TYPE_NAMES[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `must be ${issue.values.join(' or ')}`;
    case 'too_small':
      return issue.origin === 'array' ? 'must not be empty' : `must be at least ${issue.minimum}`;
    case 'too_big':
      return issue.origin === 'array' ? issue.message : `must be at most ${issue.maximum}`;
    default:
      return issue.message;
  }
}
