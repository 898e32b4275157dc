import { parse } from 'smol-toml';
import { type ConfigFormat, type Edit, UnmergeableError } from './edit.ts';

// No library writes TOML with its comments kept. The edits of this command are few and simple, so they are made in the
// text: a line of the root or of a table is replaced, added or removed. merge() parses the result and refuses it unless
// exactly the edited values differ, so a file in which lines are not what they seem is left alone.

/** TOML. Every line that is not edited stays as it is. */
export const tomlFormat: ConfigFormat = {
  parse(text) {
    try {
      return parse(text, { integersAsBigInt: 'asNeeded' });
    } catch {
      throw new UnmergeableError('is not valid TOML');
    }
  },
  edit(text, edits) {
    const end = text.includes('\r\n') ? '\r\n' : '\n';
    const lines = text === '' ? [] : text.replace(/\r?\n$/, '').split(/\r?\n/);
    for (const edit of edits) editLines(lines, edit);
    return lines.length === 0 ? '' : `${lines.join(end)}${end}`;
  },
};

const HEADER = /^\s*\[/;

function editLines(lines: string[], { path, value }: Edit): void {
  const names = path.map((step) => {
    if (typeof step !== 'string') throw new UnmergeableError('has a list where a table is expected');
    return step;
  });
  const key = names.at(-1) ?? '';
  const [from, to] = sectionOf(lines, names.slice(0, -1), value !== undefined);
  const at = lines.findIndex((line, index) => index >= from && index < to && assigns(line, key));
  if (value === undefined) {
    if (at >= 0) lines.splice(at, 1);
    return;
  }
  const line = `${keyText(key)} = ${JSON.stringify(value)}`;
  if (at >= 0) {
    lines[at] = line;
    return;
  }
  const last = lastOf(lines, from, to);
  const next = lines[last];
  lines.splice(last, 0, line, ...(next === undefined || next.trim() === '' ? [] : ['']));
}

/** The lines of a table, without its header; the root's lines for an empty path. A missing table is added. */
function sectionOf(lines: string[], table: readonly string[], isNeeded: boolean): [from: number, to: number] {
  const endAfter = (from: number) => {
    const next = lines.findIndex((line, index) => index >= from && HEADER.test(line));
    return next < 0 ? lines.length : next;
  };
  if (table.length === 0) return [0, endAfter(0)];
  const header = `[${table.map(keyText).join('.')}]`;
  const at = lines.findIndex((line) => line.replaceAll(/\s|#.*$/g, '') === header);
  if (at >= 0) return [at + 1, endAfter(at + 1)];
  if (!isNeeded) return [0, 0];
  if (lines.length > 0 && lines.at(-1)?.trim() !== '') lines.push('');
  lines.push(header);
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
