import type { analytics } from '@gatehouse/contract';
import { type ShownRequestLogColumn, shownRequestLogColumns } from '@gatehouse/store';
import { type Names, namesOf } from './names.ts';
import { FORMATS } from './request-formats.ts';
import type { RequestRow } from './telemetry.ts';

type Write = (entry: Record<string, unknown>, row: RequestRow, names: Names) => void;

// One object of the entry at a time, in the order of the columns.
const WRITERS = [...Map.groupBy(shownRequestLogColumns, ({ api }) => api.split('.')[0] ?? '')].map(
  ([name, columns]): Write => {
    const members = columns.map(memberOf);
    const [first] = members;
    if (first && first.inner === undefined) return first.write;
    // An object of which nothing is known is null.
    const mayBeNull = columns.every(({ isNullable }) => isNullable === true);
    return (entry, row, names) => {
      if (mayBeNull && columns.every(({ read }) => row[read] === null)) {
        entry[name] = null;
        return;
      }
      const object: Record<string, unknown> = {};
      for (const { write } of members) write(object, row, names);
      entry[name] = object;
    };
  },
);

/** A row of the request log as the API sends it. */
export function requestLogEntry(row: RequestRow, names: Names): analytics.RequestLogEntry {
  const entry: Record<string, unknown> = {};
  for (const write of WRITERS) write(entry, row, names);
  return entry as analytics.RequestLogEntry;
}

function memberOf({ api, kind, read, absent }: ShownRequestLogColumn): {
  inner: string | undefined;
  write: Write;
} {
  const [outer = '', inner] = api.split('.');
  const name = inner ?? outer;
  const json = FORMATS[kind].json as (value: unknown) => unknown;
  const write: Write = (entry, row, names) => {
    const value = row[read];
    if (absent !== undefined && value === absent) return;
    if (value === null) entry[name] = null;
    else if (kind === 'reference')
      entry[name] = { id: value, name: namesOf(names, api).get(String(value)) ?? null };
    else entry[name] = json(value);
  };
  return { inner, write };
}
