import { pkrInWords } from '@gatehouse/contract';
import type { Transaction } from '@gatehouse/store';
import type { RecorderFor } from '../http/recorder.ts';
import { type Deposit, DepositError, deposit } from './create-organization.ts';
import { lockOrganization } from './lock-organization.ts';
import * as queries from './queries.ts';

/*
 * A deposit made by mistake is taken back by a counter-entry; nothing that was written is changed. Two things bound a
 * withdrawal: the budget cannot fall below what is spent and held, nor below the sum of the limits of the organisation's
 * keys. Limits change only under the organisation's lock, spent and held only under the balance's, so both are taken, in
 * the order that every transaction keeps.
 */

/**
 * Takes credit back and records it. Returns what is left of all deposits.
 * @throws DepositError when the credit is needed
 */
export async function withdraw(
  tx: Transaction,
  { organizationId, amountMicroPkr, note }: Deposit,
  recorderFor: RecorderFor<'budget.deposited'>,
): Promise<bigint> {
  await lockOrganization(tx, organizationId);
  const balance = await tx.one(queries.lockBalance, { organizationId });
  if (!balance) throw new Error(`the organisation ${organizationId} has no balance`);
  const { depositedMicroPkr, spentMicroPkr, heldMicroPkr, limitsMicroPkr } = balance;
  const used = spentMicroPkr + heldMicroPkr;
  const available = depositedMicroPkr - (used > limitsMicroPkr ? used : limitsMicroPkr);
  if (amountMicroPkr > available) {
    throw new DepositError(
      `at most ${pkrInWords(available > 0n ? available : 0n)} can be withdrawn: ${pkrInWords(depositedMicroPkr)} are deposited, ${pkrInWords(spentMicroPkr)} spent, ${pkrInWords(heldMicroPkr)} held by requests in flight, and the limits of the keys add up to ${pkrInWords(limitsMicroPkr)}`,
    );
  }
  return deposit(tx, { organizationId, amountMicroPkr: -amountMicroPkr, note }, recorderFor);
}
