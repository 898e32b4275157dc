import { type Queryable, statement } from '@gatehouse/store';
import type { Admission, Verdict } from '../queries.ts';

const admitByokStatement = statement<{
  verdict: Exclude<Verdict, 'budget_exhausted'>;
  availableMicroPkr: bigint | null;
}>(
  'gateway-admit-byok',
  `SELECT verdict, available_micro_pkr AS "availableMicroPkr" FROM admit_byok_request($1, $2, $3, $4)`,
);

/** As `admit`, for a request with a key from the vault: the organisation's balance does not bind it. */
export async function admitByok(
  database: Queryable,
  { requestId, keyId, amountMicroPkr, holdMs }: Admission,
): Promise<{ verdict: Verdict; availableMicroPkr: bigint | null }> {
  const row = await database.one(admitByokStatement, [requestId, keyId, amountMicroPkr, holdMs]);
  if (!row) throw new Error('admit_byok_request returned no row');
  return row;
}
