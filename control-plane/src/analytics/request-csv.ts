import { shownRequestLogColumns } from '@gatehouse/store';
import { type Names, namesOf } from './names.ts';
import { csvText, FORMATS } from './request-formats.ts';
import type { RequestRow } from './telemetry.ts';

// The request log as CSV by RFC 4180. The columns are those of the JSON form, made flat.

interface Column {
  readonly title: string;
  /** The member of the row. */
  readonly read: keyof RequestRow;
  /** The value as a cell; its text if undefined. */
  readonly write: ((value: unknown, names: Names) => string) | undefined;
}

const COLUMNS = shownRequestLogColumns.flatMap(({ api, csv, kind, read }): Column[] => {
  const title = csv ?? api.split('.').at(-1) ?? api;
  if (kind !== 'reference')
    return [{ title, read, write: FORMATS[kind].csv as ((value: unknown) => string) | undefined }];
  const name = (id: unknown, names: Names) => csvName(namesOf(names, api).get(String(id)));
  return [
    { title: `${title}_id`, read, write: undefined },
    { title: `${title}_name`, read, write: name },
  ];
});

/** The names of the columns, as the first line. */
export const CSV_HEADER = `${COLUMNS.map(({ title }) => title).join(',')}\r\n`;

/** A row of the request log as a line. */
export function requestCsvLine(row: RequestRow, names: Names): string {
  let line = '';
  let separator = '';
  for (const { read, write } of COLUMNS) {
    const value = row[read];
    line += separator;
    separator = ',';
    if (value !== null) line += write ? write(value, names) : value;
  }
  return `${line}\r\n`;
}

function csvName(name: string | undefined): string {
  return name === undefined ? '' : csvText(name);
}
