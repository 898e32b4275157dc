import type { analytics } from '@gatehouse/contract';
import { type RequestLogColumn, type RequestLogRow, requestLogColumns } from '@gatehouse/store';
import { storableAttempts } from './storable-attempts.ts';
import { isStorable, storableText } from './storable-text.ts';

/** How a request that reached the gateway came to its end. */
export type TerminationReason = analytics.TerminationReason;

declare const storable: unique symbol;

/** The record of a request that has finished. */
export type FinishedFields = RequestLogRow & {
  /** True if `holds` has, or may have, a row under this request's id: when in doubt, true. */
  readonly isHeld: boolean;
  /** The windows of spend limits that the request was admitted in, as PostgreSQL writes an array. Where the record does not say, its
   *  hold does. */
  readonly windowIds?: string | undefined;
};

/**
 * Everything that is kept of one finished request: what it cost, for the ledger, and how it went, for telemetry. One may
 * stand for many rejected requests. Every store can hold its text and numbers: only finishRequest makes one.
 */
export type FinishedRequest = FinishedFields & { readonly [storable]: true };

type Repair = (value: never) => unknown;

const REPAIRS = requestLogColumns.flatMap((column) => {
  const repair = repairOf(column);
  return repair ? [{ field: column.field, repair: repair as (value: unknown) => unknown }] : [];
});

/**
 * Replaces what no store can hold, because a caller or a provider may send anything and that must not cost the record:
 * U+0000 and lone surrogates become U+FFFD, numbers that are not finite become null or 0. Attempts are bounded, too.
 */
export function finishRequest(fields: FinishedFields): FinishedRequest {
  let repaired: Record<string, unknown> | undefined;
  for (const { field, repair } of REPAIRS) {
    const value = fields[field];
    if (value === null || value === undefined || (typeof value === 'number' && Number.isFinite(value)))
      continue;
    const storableValue = repair(value);
    if (storableValue === value) continue;
    repaired ??= { ...fields };
    repaired[field] = storableValue;
  }
  return (repaired ?? fields) as unknown as FinishedRequest;
}

function repairOf({ kind, isNullable }: RequestLogColumn): Repair | undefined {
  switch (kind) {
    case 'text':
      return storableText;
    case 'labels':
      return storableLabels;
    case 'attempts':
      return storableAttempts;
    case 'status':
    case 'count':
    case 'requests':
    case 'milliseconds':
      return (value: number) => (Number.isFinite(value) ? value : isNullable ? null : 0);
    default:
      return undefined;
  }
}

function storableLabels(labels: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  for (const [name, value] of labels) {
    if (isStorable(name) && isStorable(value)) continue;
    return new Map(Array.from(labels, ([key, text]) => [storableText(key), storableText(text)]));
  }
  return labels;
}
