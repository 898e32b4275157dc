import { shownRequestLogColumns } from '@gatehouse/store';
import { type Names, namesOf } from './names.ts';
import { csvText, FORMATS } from './request-formats.ts';
import type { RequestRow } from './telemetry.ts';

// The request log as CSV by RFC 4180. The columns are those of the JSON form, made flat.

interface Column {
  readonly title: string;
  readonly cell: (row: RequestRow, names: Names) => string;
}

const COLUMNS = shownRequestLogColumns.flatMap((column): readonly Column[] => {
  const { api, csv = api.split('.').at(-1) ?? api, kind, read } = column;
  const write = FORMATS[kind].csv as (value: unknown) => string;
  const cell = (row: RequestRow) => (row[read] === null ? '' : write(row[read]));
  if (kind !== 'reference') return [{ title: csv, cell }];
  const name = (row: RequestRow, names: Names) => csvName(namesOf(names, api).get(String(row[read])));
  return [
    { title: `${csv}_id`, cell },
    { title: `${csv}_name`, cell: name },
  ];
});

/** The names of the columns, as the first line. */
export const CSV_HEADER = csvLine(COLUMNS.map(({ title }) => title));

/** A row of the request log as a line. */
export function requestCsvLine(row: RequestRow, names: Names): string {
  return csvLine(COLUMNS.map(({ cell }) => cell(row, names)));
}

function csvLine(cells: readonly string[]): string {
  return `${cells.join(',')}\r\n`;
}

function csvName(name: string | undefined): string {
  return name === undefined ? '' : csvText(name);
}
