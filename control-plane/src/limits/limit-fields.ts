import {
  pkrInWords,
  pkrNumber,
  type SpendLimitId,
  spendWindowInWords,
  uuidFromText,
} from '@gatehouse/contract';
import { creatorFields } from '../organization/index.ts';
import type { LimitRow } from './queries.ts';

/** A limit as replies show it. */
export function limitFields(row: LimitRow) {
  const { values, limitMicroPkr } = row;
  const figuresOf = (spent: bigint, held: bigint) => {
    const remaining = limitMicroPkr - spent - held;
    return {
      spent_pkr: pkrNumber(spent),
      held_pkr: pkrNumber(held),
      remaining_pkr: pkrNumber(remaining > 0n ? remaining : 0n),
    };
  };
  const apart = values?.map(({ value, spent, held }) => ({
    value,
    ...figuresOf(BigInt(spent), BigInt(held)),
  }));
  const [most] = apart ?? [];
  const { value: _, ...figures } = most ?? {
    value: null,
    ...figuresOf(apart ? 0n : row.spentMicroPkr, apart ? 0n : row.heldMicroPkr),
  };
  return {
    id: row.id,
    scope: scopeFields(row),
    window: row.timeWindow,
    time_zone: row.timeZone,
    limit_pkr: pkrNumber(limitMicroPkr),
    mode: row.mode,
    alert_at: row.alertAt,
    ...figures,
    window_started_at: row.startedAt,
    window_ends_at: row.endsAt,
    ...(apart && { values: apart }),
    created_by: creatorFields(row),
    created_at: row.createdAt,
    updated_at: row.updatedAt,
  };
}

type ScopeRow = Pick<LimitRow, 'scopeKind' | 'scopeId' | 'scopeName' | 'metadataName' | 'metadataValue'>;

function scopeFields({ scopeKind: kind, scopeId, metadataName, metadataValue }: ScopeRow) {
  if (kind === 'organization') return { kind } as const;
  if (kind === 'metadata') return { kind, name: metadataName ?? '', value: metadataValue } as const;
  return { kind, id: scopeId ?? '' } as const;
}

/** The limit in the activity log: `project web: 1000.00 PKR a day (Asia/Karachi)`. */
export function limitInWords(row: LimitRow): string {
  const zone = row.timeWindow === 'lifetime' ? '' : ` (${row.timeZone})`;
  const amount = `${pkrInWords(row.limitMicroPkr)} ${spendWindowInWords(row.timeWindow)}${zone}`;
  return `${scopeInWords(row)}: ${amount}${row.mode === 'alert' ? ', alert only' : ''}`;
}

// The log keeps a target of any length; a value of metadata may have 1,024 bytes.
const SHOWN_VALUE_LENGTH = 80;

function scopeInWords({ scopeKind, scopeName, metadataName, metadataValue }: ScopeRow): string {
  if (scopeKind === 'organization') return 'organization';
  if (scopeKind !== 'metadata') return `${scopeKind} ${scopeName}`;
  const value = metadataValue === null ? 'each value' : metadataValue.slice(0, SHOWN_VALUE_LENGTH);
  return `metadata ${metadataName} = ${value.toWellFormed()}`;
}

/** The id in canonical form; undefined for a malformed one. Whose limit it is remains to be checked. */
export function limitIdFromText(given: string): SpendLimitId | undefined {
  return uuidFromText(given) as SpendLimitId | undefined;
}
