import { pkrInWords, pkrNumber } from '@gatehouse/contract';
import { withdraw } from '@gatehouse/control-plane/organization';
import type { Context } from '../../terminal/command.ts';
import { print, shown } from '../../terminal/output.ts';
import { change, requireOrganization, withDatabase } from '../database.ts';
import { operator } from '../operator.ts';
import { readAmount, readNote } from './amount.ts';
import type { AmountArguments } from './deposit.ts';

export async function withdrawFromOrg(args: AmountArguments, context: Context): Promise<number> {
  const amountMicroPkr = readAmount(args.pkr);
  const note = readNote(args.note);
  return withDatabase(context, async (database) => {
    const organization = await requireOrganization(database, args.org);
    const depositedMicroPkr = await change('gatehouse org show', () =>
      database.transaction((tx) =>
        withdraw(tx, { organizationId: organization.id, amountMicroPkr, note }, operator),
      ),
    );
    print(
      context,
      {
        organization,
        amount_pkr: pkrNumber(-amountMicroPkr),
        note,
        deposited_pkr: pkrNumber(depositedMicroPkr),
      },
      [
        `Withdrew ${pkrInWords(amountMicroPkr)} from ${shown(organization.name)}: ${pkrInWords(depositedMicroPkr)} are left of all deposits.`,
      ],
    );
    return 0;
  });
}
