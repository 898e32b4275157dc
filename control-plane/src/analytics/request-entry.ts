import type { analytics } from '@gatehouse/contract';
import { type ShownRequestLogColumn, shownRequestLogColumns } from '@gatehouse/store';
import { type Names, namesOf } from './names.ts';
import { FORMATS } from './request-formats.ts';
import type { RequestRow } from './telemetry.ts';

/** A member of the entry or of one of its objects. */
interface Member {
  readonly name: string;
  /** The member of the row. */
  readonly read: keyof RequestRow;
  /** The value as JSON has it; the value itself if undefined. */
  readonly json: ((value: unknown, names: Names) => unknown) | undefined;
  /** The entry leaves this value out. */
  readonly absent: number | undefined;
}

/** A member of the entry: a value, or an object if it has `members`. */
type EntryMember =
  | Member
  | { readonly name: string; readonly members: readonly Member[]; readonly mayBeNull: boolean };

// In the order of the columns.
const ENTRY = [...Map.groupBy(shownRequestLogColumns, ({ api }) => api.split('.')[0] ?? '')].map(
  ([name, columns]): EntryMember => {
    const members = columns.map(memberOf);
    const [first] = members;
    if (first && columns[0]?.api === name) return first;
    // An object of which nothing is known is null.
    return { name, members, mayBeNull: columns.every(({ isNullable }) => isNullable === true) };
  },
);

/** A row of the request log as the API sends it. */
export function requestLogEntry(row: RequestRow, names: Names): analytics.RequestLogEntry {
  const entry: Record<string, unknown> = {};
  for (const member of ENTRY) {
    if (!('members' in member)) {
      write(entry, member, row, names);
    } else if (member.mayBeNull && member.members.every(({ read }) => row[read] === null)) {
      entry[member.name] = null;
    } else {
      const object: Record<string, unknown> = {};
      for (const inner of member.members) write(object, inner, row, names);
      entry[member.name] = object;
    }
  }
  return entry as analytics.RequestLogEntry;
}

function write(
  object: Record<string, unknown>,
  { name, read, json, absent }: Member,
  row: RequestRow,
  names: Names,
): void {
  const value = row[read];
  if (absent !== undefined && value === absent) return;
  object[name] = value === null || json === undefined ? value : json(value, names);
}

function memberOf({ api, kind, read, absent }: ShownRequestLogColumn): Member {
  const name = api.split('.').at(-1) ?? api;
  const json =
    kind === 'reference'
      ? (id: unknown, names: Names) => ({ id, name: namesOf(names, api).get(String(id)) ?? null })
      : (FORMATS[kind].json as Member['json']);
  return { name, read, json, absent };
}
