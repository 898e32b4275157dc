import type { Context } from './command.ts';

/** Prints what a command has to say: as text, or as the one JSON document. */
export function print({ isJson, out }: Context, document: unknown, lines: readonly string[]): void {
  if (isJson) out(`${JSON.stringify(document, undefined, 2)}\n`);
  else if (lines.length > 0) out(`${lines.join('\n')}\n`);
}

/** Says on standard error what the answer does not hold. */
export function warn({ err }: Pick<Context, 'err'>, text: string): void {
  err(`gatehouse: ${shown(text)}\n`);
}

// What would move a terminal's cursor, end the line or turn its direction.
const UNSEEN = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

/** Foreign text, made safe for one line of a terminal. */
export function shown(text: string): string {
  return text.replace(UNSEEN, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

const GAP = '  ';
/** A column is made no narrower than this. */
const MIN_COLUMN = 12;

/** Rows under their titles, each column as wide as its widest cell; where they would not fit into `width`, the widest columns are cut. */
export function columns(rows: readonly (readonly string[])[], width = Number.POSITIVE_INFINITY): string[] {
  const widths = rows.reduce<number[]>(
    (sofar, row) => row.map((cell, index) => Math.max(sofar[index] ?? 0, [...cell].length)),
    [],
  );
  const total = () => widths.reduce((sum, one) => sum + one + GAP.length, -GAP.length);
  for (let widest = Math.max(...widths); total() > width && widest > MIN_COLUMN; widest = Math.max(...widths))
    widths[widths.indexOf(widest)] = widest - 1;
  return rows.map((row) =>
    row
      .map((cell, index) => padded(cell, widths[index] ?? 0))
      .join(GAP)
      .trimEnd(),
  );
}

function padded(cell: string, width: number): string {
  const characters = [...cell];
  if (characters.length <= width) return cell + ' '.repeat(width - characters.length);
  return `${characters.slice(0, width - 1).join('')}…`;
}

/** `1 request`, `2 requests`. */
export function counted(count: number | bigint, one: string): string {
  return `${count} ${one}${Number(count) === 1 ? '' : 's'}`;
}

/** A database's timestamp for people: `2026-11-20 10:15`, in UTC. */
export function minute(timestamp: string): string {
  return timestamp.slice(0, 16).replace('T', ' ');
}

/** As `minute`, with the second. */
export function second(timestamp: string): string {
  return timestamp.slice(0, 19).replace('T', ' ');
}
