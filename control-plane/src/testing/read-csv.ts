/** Parses CSV (RFC 4180) into lines of cells; null for an empty cell without quotes. Throws for invalid CSV. */
export function readCsv(csv: string): (string | null)[][] {
  const lines: (string | null)[][] = [];
  let line: (string | null)[] = [];
  // A cell, quoted or not, and its terminator.
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/y;
  while (cell.lastIndex < csv.length) {
    const at = cell.lastIndex;
    const match = cell.exec(csv);
    if (!match) throw new Error(`invalid CSV: ${JSON.stringify(csv.slice(at, at + 100))}`);
    const [, quoted, plain = '', end] = match;
    line.push(quoted?.replaceAll('""', '"') ?? (plain || null));
    if (end === ',') continue;
    lines.push(line);
    line = [];
  }
  if (line.length > 0) throw new Error('the last line has no end');
  return lines;
}
