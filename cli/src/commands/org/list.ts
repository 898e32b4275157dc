import { pkrInWords } from '@gatehouse/contract';
import { listOrganizations } from '@gatehouse/control-plane/organization';
import type { Context } from '../../terminal/command.ts';
import { columns, minute, print, shown } from '../../terminal/output.ts';
import { withDatabase } from '../database.ts';
import { availableMicroPkr, summaryDocument } from './summary.ts';

export function listOrgs(context: Context): Promise<number> {
  return withDatabase(context, async (database) => {
    const organizations = await listOrganizations(database);
    const rows = organizations.map((one) => [
      one.id,
      shown(one.name),
      String(one.members),
      pkrInWords(availableMicroPkr(one)),
      minute(one.createdAt),
    ]);
    print(
      context,
      { organizations: organizations.map(summaryDocument) },
      rows.length === 0
        ? ['There is no organisation yet: the first account that registers makes one.']
        : columns([['ID', 'NAME', 'MEMBERS', 'AVAILABLE', 'CREATED (UTC)'], ...rows]),
    );
    return 0;
  });
}
