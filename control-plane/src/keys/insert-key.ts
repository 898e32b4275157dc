import { conflict } from '@gatehouse/contract';
import type { Transaction } from '@gatehouse/store';
import { tooManyKeys } from './messages.ts';
import * as queries from './queries.ts';

/** Every way of minting a key. Requires the organisation's lock. Throws a 409 where the organisation has too many keys. */
export async function insertKey(tx: Transaction, key: queries.NewKey): Promise<queries.KeyRow> {
  const row = await tx.one(queries.insertKey, key);
  if (!row) throw conflict(tooManyKeys(key.maxKeys));
  return row;
}
