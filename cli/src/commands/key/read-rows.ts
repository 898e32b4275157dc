import { parse } from 'csv-parse/sync';
import { getNodeValue, type Node, type ParseError, parseTree } from 'jsonc-parser';
import { CommandError } from '../../terminal/errors.ts';

/** A row of an exported table. */
export interface ImportRow {
  /** The line that it begins on, from 1. */
  readonly line: number;
  /** By lower-case names of columns. A cell that is empty or null is left out. */
  readonly cells: ReadonlyMap<string, unknown>;
}

/** Reads JSON (a list, or an object that has one), JSON lines, or CSV with a header. @throws CommandError where it is none of them */
export function readRows(text: string): ImportRow[] {
  const content = text.replace(/^\uFEFF/, '');
  const start = content.trimStart().charAt(0);
  if (start === '[') return readDocument(content);
  if (start === '{') return isOneDocument(content) ? readDocument(content) : readLines(content);
  return readCsv(content);
}

function rowOf(line: number, object: Readonly<Record<string, unknown>>): ImportRow {
  const cells = Object.entries(object).filter(
    ([, cell]) => cell !== null && cell !== undefined && cell !== '',
  );
  return { line, cells: new Map(cells.map(([name, cell]) => [name.trim().toLowerCase(), cell])) };
}

function isOneDocument(content: string): boolean {
  const errors: ParseError[] = [];
  parseTree(content, errors);
  return errors.length === 0;
}

function readDocument(content: string): ImportRow[] {
  const errors: ParseError[] = [];
  const root = parseTree(content, errors, { allowTrailingComma: false, disallowComments: true });
  const [error] = errors;
  if (!root || error)
    throw new CommandError(`the file is no JSON: see line ${lineAt(content, error?.offset ?? 0)}`);
  return rowNodes(root).map((node) => {
    const line = lineAt(content, node.offset);
    if (node.type !== 'object') throw new CommandError(`line ${line}: expected an object, a key each`);
    return rowOf(line, getNodeValue(node) as Record<string, unknown>);
  });
}

/** The entries of a list, of the only list in an object, or the object itself. */
function rowNodes(root: Node): readonly Node[] {
  if (root.type === 'array') return root.children ?? [];
  const lists = (root.children ?? []).flatMap(({ children }) => {
    const value = children?.[1];
    return value?.type === 'array' && value.children?.some(({ type }) => type === 'object') ? [value] : [];
  });
  const [list] = lists;
  return list && lists.length === 1 ? (list.children ?? []) : [root];
}

function lineAt(content: string, offset: number): number {
  let line = 1;
  for (let at = content.indexOf('\n'); at >= 0 && at < offset; at = content.indexOf('\n', at + 1)) line += 1;
  return line;
}

function readLines(content: string): ImportRow[] {
  return content.split('\n').flatMap((text, index) => {
    if (text.trim() === '') return [];
    const line = index + 1;
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      throw new CommandError(`line ${line} is no JSON; expected an object on each line`);
    }
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw new CommandError(`line ${line}: expected an object, a key each`);
    return [rowOf(line, value as Record<string, unknown>)];
  });
}

function readCsv(content: string): ImportRow[] {
  try {
    const records = parse(content, {
      columns: true,
      info: true,
      skip_empty_lines: true,
      trim: true,
    }) as unknown as {
      readonly info: { readonly lines: number };
      readonly record: Record<string, string>;
    }[];
    return records.map(({ info, record }) => rowOf(info.lines, record));
  } catch (error) {
    // The parser's messages may repeat a row, which has a secret in it.
    const { lines } = error as { readonly lines?: number };
    throw new CommandError(
      `the file is no CSV with a header: line ${lines ?? 1} does not have as many cells as the header, or has a quote that is not closed`,
    );
  }
}
