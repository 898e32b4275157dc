import type { KeyId } from '@gatehouse/contract';
import { sql, statement } from '@gatehouse/store';

// Statements that compile and do not fit the schema, each in one way, and one that fits. They exist for statements.test.ts.

type OfKey = { keyId: KeyId };
const from = sql`FROM api_keys WHERE id = ${'keyId'}`;

export const fits = statement<OfKey, { keyPrefix: string; expiresAt: string | null; spentMicroPkr: bigint }>(
  'fixture-fits',
  sql`SELECT key_prefix, expires_at, spent_micro_pkr ${from}`,
);
export const columnIsGone = statement<OfKey, { owner: string }>(
  'fixture-column-is-gone',
  sql`SELECT owner ${from}`,
);
export const memberIsMisnamed = statement<OfKey, { prefix: string }>(
  'fixture-member-is-misnamed',
  sql`SELECT key_prefix ${from}`,
);
export const nullIsNotDeclared = statement<OfKey, { expiresAt: string }>(
  'fixture-null-is-not-declared',
  sql`SELECT expires_at ${from}`,
);
export const typeIsWrong = statement<OfKey, { spentMicroPkr: number }>(
  'fixture-type-is-wrong',
  sql`SELECT spent_micro_pkr ${from}`,
);
export const columnIsNotDeclared = statement<OfKey, { name: string }>(
  'fixture-column-is-not-declared',
  sql`SELECT name, key_prefix ${from}`,
);
export const parameterIsWrong = statement<{ limit: string }, { name: string }>(
  'fixture-parameter-is-wrong',
  sql`SELECT name FROM api_keys LIMIT ${'limit'}`,
);
