import { pkrInWords } from '@gatehouse/contract';
import type { Transaction } from '@gatehouse/store';
import type { RecorderFor } from '../http/recorder.ts';
import { type Deposit, DepositRefused } from './create-organization.ts';
import * as queries from './queries.ts';

/*
 * A deposit that was a mistake is taken back by a counter-entry; nothing that was written is changed. Two things bound
 * it, as they bound what is spent and what a key may be given: the budget cannot be less than what is spent and held,
 * and not less than what the limits of the organisation's keys add up to. The limits change under the organisation's
 * lock only, what is spent and held under the balance's, so both are taken, in the order that everybody keeps.
 */

/** Takes credit back and records it; returns what is left of all deposits. Throws DepositRefused when it is needed. */
export async function withdraw(
  tx: Transaction,
  { organizationId, amountMicroPkr, note }: Deposit,
  recorderFor: RecorderFor<'budget.deposited'>,
): Promise<bigint> {
  await tx.run(queries.lockOrganization, [organizationId]);
  const balance = await tx.one(queries.lockBalance, [organizationId]);
  if (!balance) throw new Error(`the organisation ${organizationId} has no balance`);
  const used = balance.spent_micro_pkr + balance.held_micro_pkr;
  const needed = used > balance.limits_micro_pkr ? used : balance.limits_micro_pkr;
  const available = balance.deposited_micro_pkr - needed;
  if (amountMicroPkr > available) {
    throw new DepositRefused(
      `at most ${pkrInWords(available > 0n ? available : 0n)} can be withdrawn: ${pkrInWords(balance.deposited_micro_pkr)} are deposited, ${pkrInWords(balance.spent_micro_pkr)} spent, ${pkrInWords(balance.held_micro_pkr)} held by requests in flight, and the limits of the keys add up to ${pkrInWords(balance.limits_micro_pkr)}`,
    );
  }
  const left = await tx.one(queries.insertWithdrawal, [organizationId, -amountMicroPkr, note]);
  if (!left) throw new Error('the withdrawal was not inserted');
  const record = recorderFor({ organizationId, actorUserId: null });
  await record(tx, 'budget.deposited', pkrInWords(-amountMicroPkr));
  return left.deposited_micro_pkr;
}
