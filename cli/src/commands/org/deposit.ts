import { pkrInWords, pkrNumber } from '@gatehouse/contract';
import { deposit } from '@gatehouse/control-plane/organization';
import type { Context } from '../../terminal/command.ts';
import { confirmation } from '../../terminal/confirm.ts';
import { print, shown } from '../../terminal/output.ts';
import { change, requireOrganization, withDatabase } from '../database.ts';
import { operator } from '../operator.ts';
import { readAmount, readNote } from './amount.ts';

/** Above it, a slip of the hand is likelier than a deposit. */
const LARGE_MICRO_PKR = 1_000_000_000_000n;

export interface AmountArguments {
  readonly org: string;
  readonly pkr: string;
  readonly note: string | undefined;
}

export async function depositForOrg(
  args: AmountArguments & { readonly yes: string | undefined },
  context: Context,
): Promise<number> {
  const amountMicroPkr = readAmount(args.pkr, 'gatehouse org withdraw takes credit back');
  const note = readNote(args.note);
  const confirm = amountMicroPkr > LARGE_MICRO_PKR ? confirmation(context, args.yes) : undefined;
  return withDatabase(context, async (database) => {
    const organization = await requireOrganization(database, args.org);
    await confirm?.(`Deposit ${pkrInWords(amountMicroPkr)} for ${shown(organization.name)}?`);
    const depositedMicroPkr = await change('gatehouse org show', () =>
      database.transaction((tx) =>
        deposit(tx, { organizationId: organization.id, amountMicroPkr, note }, operator),
      ),
    );
    print(
      context,
      {
        organization,
        amount_pkr: pkrNumber(amountMicroPkr),
        note,
        deposited_pkr: pkrNumber(depositedMicroPkr),
      },
      [
        `Deposited ${pkrInWords(amountMicroPkr)} for ${shown(organization.name)}: ${pkrInWords(depositedMicroPkr)} in all.`,
      ],
    );
    return 0;
  });
}
