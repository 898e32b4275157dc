import { pkrInWords, pkrNumber } from '@gatehouse/contract';
import { deleteOrganization } from '@gatehouse/control-plane/organization';
import type { Context } from '../../terminal/command.ts';
import { confirmation } from '../../terminal/confirm.ts';
import { counted, print, shown } from '../../terminal/output.ts';
import { change, noOrganization, requireOrganization, withDatabase } from '../database.ts';
import { operator } from '../operator.ts';

export function deleteOrg(
  args: { readonly org: string; readonly yes: string | undefined },
  context: Context,
): Promise<number> {
  const confirm = confirmation(context, args.yes, 'gatehouse org delete');
  return withDatabase(context, async (database) => {
    const organization = await requireOrganization(database, args.org);
    await confirm(
      `Delete ${shown(organization.name)} for good, with its accounts, its keys, its vault and its credit?`,
    );
    const done = await change('gatehouse org list', () =>
      deleteOrganization(database, organization, operator),
    );
    if (!done) throw noOrganization(args.org);
    const { revokedKeys, deletedAccounts, withdrawnMicroPkr, heldMicroPkr } = done;
    print(
      context,
      {
        organization,
        deleted: true,
        revoked_keys: revokedKeys,
        deleted_accounts: deletedAccounts,
        withdrawn_pkr: pkrNumber(withdrawnMicroPkr),
        held_pkr: pkrNumber(heldMicroPkr),
      },
      [
        `${shown(organization.name)} (${organization.id}) is deleted: ${counted(revokedKeys, 'key')} revoked, ${counted(deletedAccounts, 'account')} deleted, ${pkrInWords(withdrawnMicroPkr)} of credit taken back.`,
        ...(heldMicroPkr > 0n
          ? [`Requests in flight hold ${pkrInWords(heldMicroPkr)}, and are settled as they end.`]
          : []),
      ],
    );
    return 0;
  });
}
