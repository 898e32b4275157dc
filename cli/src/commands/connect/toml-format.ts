import { parse } from 'smol-toml';
import { type ConfigFormat, type Edit, UnmergeableError } from './edit.ts';

// No library writes TOML with its comments kept. The edits of this command are few and simple, so they are made in the
// text: a line of the root or of a table is replaced, added or removed. merge() parses the result and refuses it unless
// exactly the edited values differ, so a file in which lines are not what they seem is left alone.

/** TOML. Every byte that is not part of an edited value stays. */
export const tomlFormat: ConfigFormat = {
  parse(text) {
    try {
      return parse(text, { integersAsBigInt: 'asNeeded' });
    } catch {
      throw new UnmergeableError('is not valid TOML');
    }
  },
  edit(text, edits) {
    const eol = text.includes('\r\n') ? '\r\n' : '\n';
    // Each with its own end, which may differ.
    const lines = text === '' ? [] : text.split(/(?<=\n)/);
    for (const edit of edits) editLines(lines, edit, eol);
    return lines.join('');
  },
};

const HEADER = /^\s*\[/;

function editLines(lines: string[], { path, value }: Edit, eol: string): void {
  const names = path.map((step) => {
    if (typeof step !== 'string') throw new UnmergeableError('has a list where a table is expected');
    return step;
  });
  const key = names.at(-1) ?? '';
  const [from, to] = sectionOf(lines, names.slice(0, -1), value !== undefined, eol);
  const at = lines.findIndex((line, index) => index >= from && index < to && assigns(line, key));
  if (value === undefined) {
    if (at >= 0) lines.splice(at, 1);
    return;
  }
  const line = lines[at];
  if (line !== undefined) {
    lines[at] = withValue(line, JSON.stringify(value));
    return;
  }
  const last = lastOf(lines, from, to);
  const next = lines[last];
  endLine(lines, last - 1, eol);
  lines.splice(
    last,
    0,
    `${keyText(key)} = ${JSON.stringify(value)}${eol}`,
    ...(next === undefined || next.trim() === '' ? [] : [eol]),
  );
}

// The value: a string on one line, or something without a string and a comment in it.
const ASSIGNMENT = /^([^=]*=[ \t]*)("(?:[^"\\]|\\.)*"|'[^']*'|[^"'#\s](?:[^"'#]*[^"'#\s])?)(\s*(?:#.*)?)$/s;

/** The line with another value; its indentation and its comment stay. */
function withValue(line: string, value: string): string {
  const [, before, , after] = ASSIGNMENT.exec(line) ?? [];
  if (before === undefined) throw new UnmergeableError('has a value that this command cannot replace');
  return `${before}${value}${after}`;
}

function endLine(lines: string[], at: number, eol: string): void {
  const line = lines[at];
  if (line !== undefined && !line.endsWith('\n')) lines[at] = line + eol;
}

/** The lines of a table, without its header; the root's lines for an empty path. A missing table is added. */
function sectionOf(
  lines: string[],
  table: readonly string[],
  isNeeded: boolean,
  eol: string,
): [from: number, to: number] {
  const endAfter = (from: number) => {
    const next = lines.findIndex((line, index) => index >= from && HEADER.test(line));
    return next < 0 ? lines.length : next;
  };
  if (table.length === 0) return [0, endAfter(0)];
  const header = `[${table.map(keyText).join('.')}]`;
  const at = lines.findIndex((line) => line.replaceAll(/\s|#.*/g, '') === header);
  if (at >= 0) return [at + 1, endAfter(at + 1)];
  if (!isNeeded) return [0, 0];
  endLine(lines, lines.length - 1, eol);
  if (lines.length > 0 && lines.at(-1)?.trim() !== '') lines.push(eol);
  lines.push(header + eol);
  return [lines.length, lines.length];
}

function assigns(line: string, key: string): boolean {
  const written = /^\s*(?:"([^"\\]*)"|'([^']*)'|([A-Za-z0-9_-]+))\s*=/.exec(line);
  return written !== null && (written[1] ?? written[2] ?? written[3]) === key;
}

/** After the last setting of a section: the comments before the next header belong to that. */
function lastOf(lines: readonly string[], from: number, to: number): number {
  let last = to;
  while (last > from && /^\s*(#|$)/.test(lines[last - 1] ?? '')) last -= 1;
  return last;
}

function keyText(key: string): string {
  return /^[A-Za-z0-9_-]+$/.test(key) ? key : JSON.stringify(key);
}
