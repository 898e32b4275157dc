import { parse } from 'smol-toml';
import { type ConfigFormat, type Edit, UnmergeableError } from './edit.ts';
import { type Assignment, type Table, tablesOf } from './toml-text.ts';

// No library writes TOML with its comments kept, so the text is changed where a value is. merge() parses the result and refuses
// it unless exactly the edited values differ.

/** TOML. Every byte that is not part of an edited value stays. */
export const tomlFormat: ConfigFormat = {
  parse(text) {
    try {
      return parse(text, { integersAsBigInt: 'asNeeded' });
    } catch {
      throw new UnmergeableError('is not valid TOML');
    }
  },
  edit: (text, edits) => edits.reduce(editText, text),
};

function editText(text: string, { path, value }: Edit): string {
  const names = path.map((step) => {
    if (typeof step !== 'string') throw new UnmergeableError('has a list where a table is expected');
    return step;
  });
  const tables = tablesOf(text);
  const found = tables
    .flatMap((table) => table.assignments.map((assignment) => ({ table, assignment })))
    .find(({ assignment }) => isSame(assignment.path, names));
  if (value === undefined) return found ? remove(text, found.table, found.assignment) : text;
  const written = JSON.stringify(value);
  if (found) {
    const { valueFrom, to } = found.assignment;
    // A list may have comments in it.
    if (/^[[{].*#/s.test(text.slice(valueFrom, to)))
      throw new UnmergeableError('has a list or a table where a value belongs');
    return splice(text, valueFrom, to, written);
  }
  const line = (table: readonly string[]) => `${keyText(names.slice(table.length))} = ${written}`;
  const wanted = names.slice(0, -1);
  const own = tables.find(({ path, isInBraces }) => !isInBraces && isSame(path, wanted));
  if (own) return addLine(text, own, tables.length > 1, line(own.path));
  // A table in braces, or one that keys with dots make, can have no header.
  const braces = tables.findLast(({ path, isInBraces }) => isInBraces && isWithin(wanted, path));
  if (braces) return addInBraces(text, braces, line(braces.path));
  const dotted = tables.find(
    ({ path, isInBraces, assignments }) =>
      !isInBraces && path.length < wanted.length && assignments.some((one) => isWithin(one.path, wanted)),
  );
  if (dotted) return addLine(text, dotted, true, line(dotted.path));
  return addTable(text, wanted, line(wanted));
}

function addTable(text: string, path: readonly string[], line: string): string {
  const eol = eolOf(text);
  const whole = text === '' || text.endsWith('\n') ? text : text + eol;
  const gap = /(^|\n[ \t]*\r?\n)$/.test(whole) ? '' : eol;
  return `${whole}${gap}[${keyText(path)}]${eol}${line}${eol}`;
}

/** Behind the last assignment of the table: the comments before the next header belong to that. */
function addLine(
  text: string,
  { path, from, assignments }: Table,
  isBeforeOthers: boolean,
  line: string,
): string {
  const eol = eolOf(text);
  const last = assignments.at(-1);
  const isOnlyComments = !last && path.length === 0;
  const at = isOnlyComments ? (isBeforeOthers ? 0 : text.length) : nextLine(text, last?.to ?? from);
  const start = at === 0 || text[at - 1] === '\n' ? '' : eol;
  const indent = last ? /^[ \t]*/.exec(text.slice(lineStart(text, last.from)))?.[0] : '';
  const gap = /^[ \t]*(\r?\n|$)/.test(text.slice(at)) ? '' : eol;
  return splice(text, at, at, `${start}${indent}${line}${eol}${gap}`);
}

function addInBraces(text: string, { from, assignments }: Table, line: string): string {
  const last = assignments.at(-1);
  if (last) return splice(text, last.to, last.to, `, ${line}`);
  return splice(text, from, from, text[from] === '}' ? ` ${line} ` : ` ${line}`);
}

function remove(text: string, { isInBraces, assignments }: Table, assignment: Assignment): string {
  const { from, to } = assignment;
  if (!isInBraces) return splice(text, lineStart(text, from), nextLine(text, to), '');
  const at = assignments.indexOf(assignment);
  const [before, after] = [assignments[at - 1], assignments[at + 1]];
  return after ? splice(text, from, after.from, '') : splice(text, before?.to ?? from, to, '');
}

const isSame = (one: readonly string[], other: readonly string[]) =>
  one.length === other.length && one.every((name, at) => name === other[at]);

/** True if the path is this one or leads below it. */
const isWithin = (path: readonly string[], above: readonly string[]) =>
  isSame(path.slice(0, above.length), above);

function keyText(path: readonly string[]): string {
  return path.map((name) => (/^[A-Za-z0-9_-]+$/.test(name) ? name : JSON.stringify(name))).join('.');
}

function eolOf(text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n';
}

function lineStart(text: string, offset: number): number {
  return text.lastIndexOf('\n', offset - 1) + 1;
}

function nextLine(text: string, offset: number): number {
  const found = text.indexOf('\n', offset);
  return found < 0 ? text.length : found + 1;
}

function splice(text: string, from: number, to: number, content: string): string {
  return text.slice(0, from) + content + text.slice(to);
}
