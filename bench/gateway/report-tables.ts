export type Table = readonly (readonly string[])[];

/** Empty for what was not measured. */
export const number = (value: number, digits: number) =>
  Number.isFinite(value) ? value.toFixed(digits) : '';

export function inMarkdown([head = [], ...rows]: Table): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('');
}

export function inColumns(table: Table): string {
  const widths = (table[0] ?? []).map((_, column) =>
    Math.max(...table.map((cells) => cells[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) => cells.map((cell, column) => cell.padEnd(widths[column] ?? 0));
  return table.map((cells) => `${line(cells).join('  ').trimEnd()}\n`).join('');
}
